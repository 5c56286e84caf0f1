import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { type ErrorCode, ExternalError } from "../base/errors.ts";
import { checkOptions, type z } from "../base/schema.ts";
import { exchange, type Failure, type HttpReply } from "./exchange.ts";
import { failureMessage, type GivenUp, quotedBody } from "./failure-message.ts";
import { type HttpSettings, requestUrl } from "./http-options.ts";
import { limiter } from "./limiter.ts";
import { delayMs, isRetried, retryAfterMs } from "./retry.ts";

/** A server, as seen by one part. */
export interface Endpoint {
  /** Who asks, for messages: `qdrant`, `judge`. */
  name: string;
  /** Checked by `serverAddress`. */
  url: string;
  settings: HttpSettings;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Keys by the variable that they come from; no message ever holds one. */
  keys?: Readonly<Record<string, string>>;
}

/** One request. */
export interface HttpRequest {
  /** GET without a body, POST with one. */
  method?: "GET" | "POST";
  /** Appended to the endpoint's address; with its leading slash. */
  path?: string;
  /** Never shown in messages. */
  parameters?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  body?: unknown;
  /** Whether asking twice does no harm; GET always is. Nothing else is ever retried. */
  idempotent?: boolean;
  /** Statuses beside 2xx that are answers too. */
  accepts?: readonly number[];
  /** For servers that hide failures in a reply of status 200: the status that it stands for and what it says. */
  failureIn?: (reply: HttpReply) => { status: number; body: string } | null;
  signal?: AbortSignal | undefined;
}

/** What a client takes from outside, so that tests need no clock and no chance. */
export interface HttpEnvironment {
  /** Uniform in [0, 1). */
  random: () => number;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Rejects with the signal's reason when aborted. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** A client of one endpoint. */
export interface HttpClient {
  /**
   * Asks until there is an answer or no attempt is left.
   *
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE or HTTP_STATUS by what the last attempt met, HTTP_BAD_REPLY for a
   *   reply above `maxReplyBytes`.
   * @throws the signal's reason when the caller aborts.
   */
  request(request: HttpRequest): Promise<HttpReply>;
  /**
   * As `request`, for a reply of JSON.
   * @param schema what the reply must hold; other keys are allowed.
   * @throws {ExternalError} also HTTP_BAD_REPLY when it is not JSON or not of that shape.
   */
  json<S extends z.ZodType>(
    request: HttpRequest,
    schema: S,
  ): Promise<{ value: z.output<S>; headers: Headers; totalMs: number }>;
}

/** A client that bounds its requests, retries them and names its failures. */
export function httpClient(
  endpoint: Endpoint,
  environment: HttpEnvironment = systemEnvironment,
): HttpClient {
  const turns = limiter(endpoint.settings.concurrency);
  const request = (asked: HttpRequest): Promise<HttpReply> => {
    if (asked.signal !== undefined) setMaxListeners(0, asked.signal);
    return turns.run(() => askRepeatedly(endpoint, asked, environment), asked.signal);
  };
  return {
    request,
    async json(asked, schema) {
      const reply = await request(asked);
      const { headers, totalMs } = reply;
      return { value: parseReply(endpoint, asked, { reply, schema }), headers, totalMs };
    },
  };
}

const systemEnvironment: HttpEnvironment = {
  random: Math.random,
  now: Date.now,
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

async function askRepeatedly(
  endpoint: Endpoint,
  asked: HttpRequest,
  { random, now, sleep }: HttpEnvironment,
): Promise<HttpReply> {
  const { settings } = endpoint;
  const { deadlineMs } = settings;
  const repeatable = asked.idempotent ?? methodOf(asked) === "GET";
  const started = now();
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(endpoint, asked, deadlineMs - (now() - started));
    if (!("kind" in outcome)) return outcome;
    const spentMs = now() - started;
    const asksFor = outcome.kind === "status" ? outcome.headers.get("retry-after") : null;
    const delay = delayMs({
      attempt,
      firstMs: settings.retryDelayMs,
      retryAfterMs: retryAfterMs(asksFor, now()),
      random,
    });
    const again = repeatable && isRetried(outcome) && attempt <= settings.retries;
    const outOfTime = again && spentMs + delay >= deadlineMs;
    if (!again || outOfTime) {
      const keyVariables = Object.keys(endpoint.keys ?? {});
      throw givenUp(endpoint, asked, {
        failure: outcome,
        attempts: attempt,
        spentMs,
        deadlineMs,
        outOfTime,
        keyVariables,
      });
    }
    await sleep(delay, asked.signal);
  }
}

async function attemptOnce(
  endpoint: Endpoint,
  asked: HttpRequest,
  leftMs: number,
): Promise<HttpReply | Failure> {
  const { timeoutMs, maxReplyBytes } = endpoint.settings;
  const outcome = await exchange(
    requestUrl(endpoint.url, asked.path ?? "", asked.parameters ?? {}),
    requestInit(endpoint, asked),
    { timeoutMs: Math.min(timeoutMs, Math.max(leftMs, 1)), maxReplyBytes, signal: asked.signal },
  );
  if ("kind" in outcome) return outcome;
  const { status, headers, text } = outcome;
  const good = (status >= 200 && status < 300) || asked.accepts?.includes(status) === true;
  const failed = good ? (asked.failureIn?.(outcome) ?? null) : { status, body: text };
  return failed === null ? outcome : { kind: "status", ...failed, headers };
}

function requestInit(endpoint: Endpoint, asked: HttpRequest): RequestInit {
  const { body } = asked;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: methodOf(asked),
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...endpoint.headers,
      ...asked.headers,
    },
    ...(body === undefined ? {} : { body: text }),
  };
}

function methodOf({ method, body }: HttpRequest): "GET" | "POST" {
  return method ?? (body === undefined ? "GET" : "POST");
}

function parseReply<S extends z.ZodType>(
  endpoint: Endpoint,
  asked: HttpRequest,
  { reply, schema }: { reply: HttpReply; schema: S },
): z.output<S> {
  const bad = (problem: string): ExternalError => {
    const body = quotedBody(withoutKeys(endpoint, reply.text));
    const message = `${problem} Found: ${body}. Check that the address is of the server that is meant.`;
    return httpError("HTTP_BAD_REPLY", endpoint, { asked, message });
  };
  let value: unknown;
  try {
    value = JSON.parse(reply.text) as unknown;
  } catch {
    throw bad("the reply is not JSON."); // no cause: the parser's message quotes the body, keys and all
  }
  const checked = checkOptions(schema, value);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  throw bad(`in the reply, ${["$", ...path].join(".")} ${message}`);
}

const CODES: Record<Failure["kind"], ErrorCode> = {
  timeout: "HTTP_TIMEOUT",
  unreachable: "HTTP_UNREACHABLE",
  status: "HTTP_STATUS",
  "too-large": "HTTP_BAD_REPLY",
};

function givenUp(endpoint: Endpoint, asked: HttpRequest, given: GivenUp): ExternalError {
  const { failure } = given;
  if (failure.kind !== "status") {
    const cause = failure.kind === "unreachable" ? failure.cause : undefined;
    return httpError(CODES[failure.kind], endpoint, {
      asked,
      message: failureMessage(given),
      cause,
    });
  }
  // Before it is cut, or half a key could remain.
  const body = withoutKeys(endpoint, failure.body);
  const message = failureMessage({ ...given, failure: { ...failure, body } });
  return httpError(CODES.status, endpoint, { asked, message });
}

/** The place in front, every key taken out. Parameters are left out of the place: Google's key is one of them. */
function httpError(
  code: ErrorCode,
  endpoint: Endpoint,
  { asked, message, cause }: { asked: HttpRequest; message: string; cause?: unknown },
): ExternalError {
  const { origin, pathname } = requestUrl(endpoint.url, asked.path ?? "", {});
  const text = `${endpoint.name} (${origin}${pathname}): ${message}`;
  return new ExternalError(code, withoutKeys(endpoint, text), { cause });
}

function withoutKeys({ keys = {}, headers = {} }: Endpoint, text: string): string {
  const [, credentials = ""] = (headers["authorization"] ?? "").split(" ");
  const secrets = [...Object.values(keys), credentials].filter((secret) => secret !== "");
  return secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((left, secret) => left.replaceAll(secret, "…"), text);
}
