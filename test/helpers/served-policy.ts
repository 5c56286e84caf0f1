import { onTestFinished } from "vitest";
import { compileChatTemplate } from "../../src/chat/chat-template.ts";
import type { TokenPolicy } from "../../src/rollout/policy.ts";
import { type MessageTemplate, plainTemplate } from "../../src/rollout/served/message-keys.ts";
import {
  type PolicyServer,
  type PolicyServerOptions,
  startPolicyServer,
} from "../../src/server/policy/policy-server.ts";

/** ChatML as Qwen writes it, with the tools in the system message. */
export function chatml(end = "<|end|>"): MessageTemplate {
  const source = `{%- if tools %}<s>{{ tools | tojson }}${end}{% endif %}{% for m in messages %}<s>{{ m.role }}:{{ m.content }}{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% endif %}${end}{% endfor %}{% if add_generation_prompt %}<s>assistant:{% endif %}`;
  const template = compileChatTemplate(source, { specialTokens: {}, where: "test" });
  return { showsTools: true, render: (...of) => template.render(...of) };
}

export interface Reply {
  status: number;
  conversation: string | null;
  body: {
    id: string;
    choices: {
      text: string;
      message: { content: string | null; tool_calls?: { function: object }[] };
      finish_reason: string;
      logprobs: { content: { token: string; logprob: number }[] } | null;
      prompt_token_ids: number[];
      token_ids: number[];
    }[];
    usage: object;
    error: { code: string | null; type: string; param: string | null; message: string };
    calls: { parent: number | null; completion: { ids: number[] }[] }[];
  };
}

export interface PolicyClient {
  server: PolicyServer;
  get: (path: string) => Promise<Reply>;
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Reply>;
  /** A chat of one user message, or of messages. */
  chat(
    messages: string | readonly object[],
    more?: object,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** Data of the events of a stream. */
  events(path: string, body: object): Promise<string[]>;
}

/** A policy behind a server of this process. */
export async function servePolicy(
  policy: TokenPolicy,
  {
    template = plainTemplate,
    ...options
  }: Partial<PolicyServerOptions & { template: MessageTemplate }> = {},
): Promise<PolicyClient> {
  const server = await startPolicyServer(policy, template, {
    host: "127.0.0.1",
    port: 0,
    name: "tiny",
    seed: 0,
    bodyLimit: 10_000,
    record: null,
    maxRequests: 16,
    maxConversations: 16,
    ...options,
  });
  onTestFinished(() => server.close());
  const fetched = async (path: string, init?: RequestInit): Promise<Reply> => {
    const response = await fetch(server.url + path, init);
    const body = (await response.json()) as Reply["body"];
    return { status: response.status, conversation: response.headers.get("x-conversation"), body };
  };
  const sent = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const post: PolicyClient["post"] = (path, body, headers) => fetched(path, sent(body, headers));
  return {
    server,
    post,
    get: (path) => fetched(path),
    chat(messages, more = {}, headers) {
      const asked = typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
      return post("/v1/chat/completions", { messages: asked, ...more }, headers);
    },
    async events(path, body) {
      const response = await fetch(server.url + path, sent({ ...body, stream: true }));
      const text = await response.text();
      return text
        .split("\n\n")
        .flatMap((each) => (each === "" ? [] : [each.slice("data: ".length)]));
    },
  };
}
