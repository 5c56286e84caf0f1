/**
 * A local policy behind OpenAI's API, for agents in any language. Token ids and log-probabilities of every answer are recorded by
 * conversation, and `POST /v1/rewards` ends one.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import { AgentrlError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { TokenPolicy } from "../../rollout/policy.ts";
import { openConversation } from "../../rollout/served/conversation.ts";
import type { MessageTemplate } from "../../rollout/served/message-keys.ts";
import { type ApiReply, answerOpenAi } from "../../rollout/served/openai-api.ts";
import { ServedError, checkedBody, errorBody } from "../../rollout/served/served-error.ts";
import { DEFAULT_TURN_TOKENS } from "../../rollout/token-dialogue.ts";
import { listen, serverApp } from "../server-app.ts";
import { type ConversationStore, conversationStore } from "./conversation-store.ts";
import { type AdapterSource, type ServedAdapters, servedAdapters } from "./served-adapters.ts";

export interface PolicyServerOptions {
  /** Address; other than loopback needs a token. */
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Clients send it as a bearer token (OPENAI_API_KEY). */
  token?: string;
  /** Name of the model for clients; a request may name any. */
  name: string;
  /** Of draws without a seed of their own. */
  seed: number;
  /** Largest body in bytes. */
  bodyLimit: number;
  /** Requests at once; more are answered 429. */
  maxRequests: number;
  /** Open conversations; beyond it the least recently used is dropped. */
  maxConversations: number;
  /** File for ended conversations; null: none. */
  record: string | null;
  /** Adapters that clients may load; default: none. */
  adapters?: AdapterSource;
  /** Receives failures whose text clients are not told. */
  onError?: (error: unknown) => void;
}

export interface PolicyServer {
  readonly url: string;
  stats(): { conversations: number; rewarded: number; dropped: number };
  close(): Promise<void>;
}

/** OpenAI's codes of refusals. */
const CODES: Partial<Record<number, string>> = {
  401: "invalid_api_key",
  429: "rate_limit_exceeded",
};

const id = z.string().min(1).max(255);
const rewardBody = z.strictObject({ conversation: id, reward: z.number() });

/** @param policy stays the caller's to close. @throws {ConfigError} SERVER_UNPROTECTED, SERVER_ADDRESS. */
export async function startPolicyServer(
  policy: TokenPolicy,
  template: MessageTemplate,
  options: PolicyServerOptions,
): Promise<PolicyServer> {
  const { host, port, name, seed, maxConversations, record } = options;
  const { app } = serverApp({
    ...options,
    health: "/health",
    noToken: "Missing or wrong API key.",
    refuse: (reply, status, message) =>
      sendError(reply, new ServedError(status, message, { code: CODES[status] ?? null })),
  });
  let count = 0;
  // A kept cache would hold its place in the engine for conversations that nobody ends.
  const storeOf = (from: TokenPolicy): ConversationStore =>
    conversationStore(
      (own) =>
        openConversation({ id: own, seed: seed + count++, policy: from, template, keepsCache: false }),
      { most: maxConversations, record },
    ); // prettier-ignore
  const store = storeOf(policy);
  const own: Served = { name, policy, store };
  const adapters =
    options.adapters === undefined
      ? null
      : servedAdapters<Served>(options.adapters, name, (named, from) => ({
          name: named,
          policy: from,
          store: storeOf(from),
        }));
  app.setErrorHandler((error, _request, reply) => sendError(reply, refusalOf(error, options)));
  app.setNotFoundHandler(({ method, url }, reply) =>
    sendError(reply, new ServedError(404, `${method} ${url.slice(0, 200)} is not served here.`)),
  );
  app.get("/health", () => ({ status: "ok" }));
  addRecordRoutes(store, app);
  const limits = { defaultTokens: DEFAULT_TURN_TOKENS, vocabSize: policy.tokenizer.vocabSize };
  let running = 0;
  const answer = async (
    method: string,
    path: string,
    body: unknown,
    named: string | null,
  ): Promise<ApiReply> => {
    if (running >= options.maxRequests) {
      const message = `${running} requests are under way. Try again later, or raise --max-requests.`;
      throw new ServedError(429, message, { code: "rate_limit_exceeded" });
    }
    running += 1;
    try {
      const served = adapters === null ? own : servedFor(body, own, adapters);
      const conversationOf: Parameters<typeof answerOpenAi>[0]["conversationOf"] = (asked) =>
        served.store.of(named ?? asked.user, asked);
      const api = { policy: served.policy, model: served.name, limits, conversationOf };
      return await answerOpenAi({ ...api, adapters: adapters?.names ?? [] }, method, path, body);
    } finally {
      running -= 1;
    }
  };
  app.get("/v1/models", async (_, reply) => send(reply, await answer("GET", "/v1/models", null, null))); // prettier-ignore
  for (const path of ["/v1/chat/completions", "/v1/completions"])
    app.post(path, async ({ body, headers }, reply) => {
      const header = headers["x-conversation"];
      const named = header === undefined ? null : checkedBody(id, header);
      return send(reply, await answer("POST", path, body, named));
    });
  if (adapters !== null) addAdapterRoutes(adapters, app);
  const url = await listen(app, { host, port }, "serve policy");
  return {
    url,
    stats: () => ({ conversations: store.open, ...store.counts }),
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await adapters?.close();
    },
  };
}

/** A policy that requests name, with its conversations. */
interface Served {
  name: string;
  policy: TokenPolicy;
  store: ConversationStore;
}

/** @throws {ServedError} 404: an unknown name would be answered by other weights than the client thinks. */
function servedFor(body: unknown, own: Served, adapters: ServedAdapters<Served>): Served {
  const { model } = (body ?? {}) as { model?: unknown };
  if (model === undefined || model === null || model === own.name) return own;
  const found = typeof model === "string" ? adapters.named(model) : null;
  if (found !== null) return found;
  throw new ServedError(404, `The model ${JSON.stringify(model)} does not exist.`, {
    code: "model_not_found",
    param: "model",
  });
}

/** vLLM's requests for adapters. */
function addAdapterRoutes(adapters: ServedAdapters<Served>, app: FastifyInstance): void {
  app.post("/v1/load_lora_adapter", ({ body }) => adapters.load(body));
  app.post("/v1/unload_lora_adapter", ({ body }) => adapters.unload(body));
}

/** What was recorded, and the end of a conversation. */
function addRecordRoutes(store: ConversationStore, app: FastifyInstance): void {
  app.get<{ Params: { id: string } }>("/v1/conversations/:id", ({ params }) => {
    const { id, calls } = store.get(params.id);
    return { id, calls };
  });
  app.post("/v1/rewards", async ({ body }) => {
    const { conversation, reward } = checkedBody(rewardBody, body);
    const { calls } = await store.reward(conversation, reward);
    return { conversation, reward, calls: calls.length };
  });
}

function send(reply: FastifyReply, answer: ApiReply): FastifyReply {
  if (answer.conversation !== null) void reply.header("x-conversation", answer.conversation);
  if ("events" in answer) return reply.type("text/event-stream").send(answer.events);
  return reply.code(answer.status).send(answer.json);
}

function sendError(reply: FastifyReply, error: ServedError): FastifyReply {
  return reply.code(error.status).send(errorBody(error));
}

/** A client reads what it did wrong and agentrl's own messages; the rest goes to the server's log. */
function refusalOf(error: unknown, { onError }: PolicyServerOptions): ServedError {
  if (error instanceof ServedError) return error;
  const { statusCode = 500, message } = error as { statusCode?: number; message: string };
  if (statusCode < 500) return new ServedError(statusCode, message);
  onError?.(error);
  const told = error instanceof AgentrlError ? message : "The server failed; see its log.";
  return new ServedError(500, told);
}
