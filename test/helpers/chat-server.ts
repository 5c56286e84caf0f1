import type { ServerResponse } from "node:http";
import { type LocalServer, localServer, type Received, sendJson } from "./local-server.ts";

/** What a chat server is asked, as far as tests look at it. */
export interface AskedChat {
  messages: {
    role: string;
    content: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
  prompt?: string;
  tools?: unknown[];
  stop?: string[];
  seed?: number;
  max_tokens?: number;
}

/** Says what a server answers to a request; null: the function has answered itself. */
export type ChatAnswer = (
  asked: AskedChat,
  response: ServerResponse,
  count: number,
) => string | object | null;

/** An OpenAI-compatible server on loopback, whose messages a function writes: a text, or the whole of a choice. */
export function chatServer(answer: ChatAnswer): Promise<LocalServer> {
  return localServer((request: Received, response, count) => {
    const asked = JSON.parse(request.body) as AskedChat;
    const given = answer(asked, response, count);
    if (given === null) return;
    const choice =
      typeof given === "object"
        ? given
        : request.url.endsWith("/completions") && asked.prompt !== undefined
          ? { text: given, finish_reason: "stop" }
          : { message: { role: "assistant", content: given }, finish_reason: "stop" };
    sendJson(response, { choices: [choice], usage: { prompt_tokens: 10, completion_tokens: 4 } });
  });
}

/** The message at a request's end. */
export function lastMessage({ messages }: AskedChat): string {
  return messages.at(-1)?.content ?? "";
}
