import { definedValues } from "../../base/defined-values.ts";
import { setTimeout as wait } from "node:timers/promises";
import { ConfigError, ExternalError } from "../../base/errors.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { readApiKey } from "../../http/api-key.ts";
import { httpClient } from "../../http/client.ts";
import type { Endpoint, SettingName } from "../../http/endpoint.ts";
import type { BodyReader } from "../../http/exchange.ts";
import { quotedBody, withoutKeys } from "../../http/http-error.ts";
import { type HttpSettings, httpShape, isServerAddress } from "../../http/http-options.ts";
import { messageIn, refusalOf } from "../../http/refusal.ts";
import { PROTOBUF } from "./messages.ts";

/** How a server is reached. */
export interface ServerOptions {
  url: string;
  /** Environment variable of the key, sent as X-API-Key; null: the server has none. */
  apiKeyEnv: string | null;
  stallMs: number | null;
  http?: Partial<HttpSettings>;
}

/** A request's answer, whatever its status. */
export interface WireAnswer {
  status: number;
  bytes: Uint8Array;
  /** Parsed where it is JSON; else the address that it redirects to, or undefined. */
  json: unknown;
}

/** A server of the Tinker API. */
export interface Connection {
  readonly where: string;
  /** Sends a request, with retries where harmless. @throws {ExternalError} as `HttpClient.request`; ENGINE_REFUSED for a status from 400. */
  call<S extends z.ZodType>(path: string, schema: S, request?: WireRequest): Promise<z.output<S>>;
  /** Waits for a future. @throws {ExternalError} ENGINE_STALLED; ENGINE_REFUSED when it failed; ENGINE_LOST when it is unknown. */
  future(requestId: string): Promise<WireAnswer>;
  /** The bytes of a file that a path leads to, redirects on the same server followed; a file: address where it redirects to one. */
  download(path: string): Promise<Uint8Array | URL>;
}

export interface WireRequest {
  body?: object | Uint8Array;
  /** Whether it can be sent again when its reply is lost. Default: yes. */
  repeats?: boolean;
}

const BASE = "/api/v1";

/** Replies that a client reads itself instead of giving up. */
const ANSWERED = [...Array.from({ length: 100 }, (_, i) => 400 + i), 302, 307];

/** Of them those that the HTTP client sends again after a while. */
const AGAIN = new Set([408, 425, 429]);

const POLL_MS = 50;

/** What the SDK waits for one poll, at most. */
const POLL_TIMEOUT_MS = 330_000;

/** @throws {ConfigError} HTTP_KEY_MISSING */
export function connect(options: ServerOptions): Connection {
  const { apiKeyEnv, stallMs } = options;
  const key = apiKeyEnv === null ? null : readApiKey(apiKeyEnv, "engine.apiKeyEnv");
  const endpoint = endpointOf(options, apiKeyEnv, key);
  const client = httpClient(endpoint);
  const where = new URL(options.url).origin;
  const send = async (path: string, { body, repeats = true }: WireRequest): Promise<WireAnswer> => {
    const isBinary = body instanceof Uint8Array;
    const collected: { reader: Collector | null } = { reader: null };
    const { status, headers } = await client.request({
      path: path.startsWith(BASE) ? path : `${BASE}/${path}`,
      body,
      headers: definedValues({
        accept: `${PROTOBUF}, application/json`,
        "content-type": isBinary ? PROTOBUF : undefined,
        "x-api-key": key ?? undefined,
      }),
      idempotent: repeats,
      accepts: ANSWERED.filter((each) => !AGAIN.has(each) || !repeats || path === FUTURE),
      reader: () => (collected.reader = collector()),
    });
    const bytes = collected.reader?.bytes() ?? new Uint8Array(0);
    const isJson = (headers.get("content-type") ?? "").includes("json");
    return { status, bytes, json: isJson ? parsed(bytes) : (headers.get("location") ?? undefined) };
  };
  const refused = (path: string, answer: WireAnswer): ExternalError => {
    const code = isLost(answer) ? "ENGINE_LOST" : "ENGINE_REFUSED";
    const message = `${where}, ${path}: status ${answer.status}, saying ${quotedBody(withoutKeys(endpoint, saidBy(answer)))}. ${remedyOf(code)}`;
    return new ExternalError(code, message);
  };
  return {
    where,
    async call(path, schema, request = {}) {
      let answer = await send(path, request);
      // A call that may not be repeated was still not done where the server says that it was too busy.
      for (let n = 1; answer.status === 429 && n <= REFUSED_TRIES; n++) {
        await wait(Math.random() * 500 * 2 ** n);
        answer = await send(path, request);
      }
      if (answer.status >= 300) throw refused(path, answer);
      const checked = checkOptions(schema, answer.json);
      if (checked.problem === null) return checked.value;
      if (refusalOf(answer.json) !== null) throw refused(path, answer);
      const { path: keys, message } = checked.problem;
      const problem =
        answer.json === undefined
          ? "the reply is not JSON."
          : `in the reply, ${["$", ...keys].join(".")} ${message}`;
      const said = quotedBody(withoutKeys(endpoint, Buffer.from(answer.bytes).toString("utf8")));
      throw new ExternalError(
        "HTTP_BAD_REPLY",
        `${where}, ${path}: ${withoutKeys(endpoint, problem)} Found: ${said}. Check that engine.url is a server of the Tinker API.`,
      );
    },
    async future(requestId) {
      const begun = performance.now();
      for (;;) {
        const answer = await send(FUTURE, { body: { request_id: requestId } });
        const state = stateOf(answer);
        if (state === "done") return answer;
        if (state === "failed") throw refused(FUTURE, answer);
        if (stallMs !== null && performance.now() - begun > stallMs) {
          const message = `${where}: request ${requestId} has no result after ${Math.round(stallMs / 1000)} s. Check the server's log, or raise deadlines.engineSeconds; --resume continues from the last checkpoint.`;
          throw new ExternalError("ENGINE_STALLED", message);
        }
        await wait(POLL_MS);
      }
    },
    async download(path) {
      let at = path;
      for (let hops = 0; hops < 4; hops++) {
        const answer = await send(at, {});
        if (answer.status < 300) return answer.bytes;
        const to = typeof answer.json === "string" ? new URL(answer.json, where) : null;
        if (to?.protocol === "file:") return to;
        if (answer.status >= 400 || to?.origin !== where) throw refused(at, answer);
        at = to.pathname;
      }
      throw new ExternalError("ENGINE_REFUSED", `${where}, ${path}: redirects without end.`);
    },
  };
}

const FUTURE = "retrieve_future";

const REFUSED_TRIES = 6;

function endpointOf(
  { url, http, stallMs }: ServerOptions,
  variable: string | null,
  key: string | null,
): Endpoint {
  if (!isServerAddress(url)) {
    const message = `engine.url is ${JSON.stringify(url)}: expected the address of a server, such as http://127.0.0.1:8000.`;
    throw new ConfigError("RECIPE_BAD_VALUE", message);
  }
  const settings = z
    .object(httpShape)
    .parse({
      timeoutMs: Math.min(POLL_TIMEOUT_MS, stallMs ?? POLL_TIMEOUT_MS),
      deadlineMs: stallMs ?? 3_600_000,
      concurrency: 1024,
      maxReplyBytes: 2 ** 30,
      ...http,
    });
  return {
    name: "engine",
    url,
    settings,
    nameOf: engineSetting,
    keys: key === null || variable === null ? undefined : { [variable]: key },
  };
}

/** The limits of requests follow the deadline of the engine. */
export function engineSetting(key: Parameters<SettingName>[0]): string | null {
  if (key === "apiKeyEnv") return "engine.apiKeyEnv";
  return key === "timeoutMs" || key === "deadlineMs" ? "deadlines.engineSeconds" : null;
}

type Collector = BodyReader & { bytes: () => Uint8Array };

function collector(): Collector {
  const chunks: Uint8Array[] = [];
  return {
    push(bytes) {
      chunks.push(new Uint8Array(bytes));
      return false;
    },
    needsEnd: true,
    failure: () => null,
    bytes: () => Buffer.concat(chunks),
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a future has its result. 410 and 402 of the hosted service are failures here. */
function stateOf({ status, json }: WireAnswer): "done" | "pending" | "failed" {
  if (status === 408 || status === 425 || status === 429) return "pending";
  if (status >= 300) return "failed";
  if (typeof json !== "object" || json === null) return "done";
  const {
    type,
    status: state,
    error,
  } = json as { type?: unknown; status?: unknown; error?: unknown };
  if (type === "try_again" || state === "pending") return "pending";
  return type === "RequestFailedResponse" || (error !== undefined && error !== null)
    ? "failed"
    : "done";
}

function isLost(answer: WireAnswer): boolean {
  const names = /(model|session|future|sampler|promise)[^.]*not (loaded|found)|unknown model/i;
  return answer.status === 410 || names.test(saidBy(answer));
}

function remedyOf(code: "ENGINE_LOST" | "ENGINE_REFUSED"): string {
  return code === "ENGINE_LOST"
    ? "The server has restarted or unloaded the model: continue from the last checkpoint with --resume."
    : "Correct what the server names; nothing was learned from this request, and --resume continues from the last checkpoint.";
}

function saidBy({ bytes, json }: WireAnswer): string {
  return messageIn(json) ?? Buffer.from(bytes.subarray(0, 2 ** 16)).toString("utf8");
}
