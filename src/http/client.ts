import { setMaxListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { checkOptions, type z } from "../base/schema.ts";
import { waits, type PendingCall } from "../base/waits/waits.ts";
import { exchange, type HttpReply, type Failure } from "./exchange.ts";
import { quotedBody, httpError, withoutKeys, givenUp } from "./http-error.ts";
import { requestUrl } from "./http-options.ts";
import type { Keeping } from "./route.ts";
import { limiter, pace } from "./concurrency.ts";
import { loadUndici } from "./load-undici.ts";
import { refusalOf, type Refusal } from "./refusal.ts";
import {
  systemEnvironment,
  type Endpoint,
  type HttpEnvironment,
  type HttpRequest,
} from "./endpoint.ts";
import { definedValues } from "../base/defined-values.ts";
import { delayMs, isRetried, retryAfterMs } from "./retry.ts";

export interface HttpClient {
  /**
   * Retries until there is an answer or no attempt is left.
   *
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT or HTTP_STATUS from the last attempt,
   *   HTTP_BAD_REPLY for a reply above `maxReplyBytes` or rejected by its reader.
   * @throws the signal's reason when the caller aborts.
   */
  request(request: HttpRequest): Promise<HttpReply>;
  /**
   * `request` for a JSON reply. An error in JSON with status 200 counts as the status that it tells.
   * @param schema of the reply; other keys are allowed.
   * @throws {ExternalError} also HTTP_BAD_REPLY when the reply is not JSON or does not match.
   */
  json<S extends z.ZodType>(
    request: HttpRequest,
    schema: S,
  ): Promise<{ value: z.output<S>; headers: HttpReply["headers"]; totalMs: number }>;
  /**
   * Parses the text of a reply.
   * @throws {ExternalError} HTTP_BAD_REPLY when it is not JSON or does not match.
   */
  parsed<S extends z.ZodType>(request: HttpRequest, reply: HttpReply, schema: S): z.output<S>;
}

/**
 * A client with bounded concurrency, retries and coded errors.
 * @throws {ExternalError} ADDRESS_SPACE
 */
export function httpClient(
  endpoint: Endpoint,
  environment: HttpEnvironment = systemEnvironment,
): HttpClient {
  // At once, and not in each of a thousand rollouts.
  loadUndici();
  const turns = limiter(endpoint.settings.concurrency);
  const ask = attempts(endpoint, environment);
  const request = (asked: HttpRequest): Promise<HttpReply> => {
    if (asked.signal !== undefined) setMaxListeners(0, asked.signal);
    return turns.run(async () => {
      const wait = waits.begin(waitOf(endpoint, asked), endpoint.settings);
      try {
        return await ask(asked);
      } finally {
        wait.end();
      }
    }, asked.signal);
  };
  const parsed: HttpClient["parsed"] = (asked, reply, schema) =>
    valueOf(endpoint, asked, { reply, read: readJson(reply, schema) });
  return {
    request,
    parsed,
    async json(asked, schema) {
      const reply = await request({ failureIn: refusalInJson(schema), ...asked });
      const { headers, totalMs } = reply;
      return { value: parsed(asked, reply, schema), headers, totalMs };
    },
  };
}

/** The request as a pending call, for notices about long waits; the request enforces its own deadline. */
function waitOf({ name, url }: Endpoint, { path = "" }: HttpRequest): PendingCall {
  const subject = (): string => {
    const { origin, pathname } = requestUrl(url, path, {});
    return origin + pathname;
  };
  return { owner: `server ${name}`, subject };
}

/** Parses a reply's JSON and checks it against its schema. */
type Read<T> = { json: unknown; value: T } | { json: unknown; problem: string };

/** A reply is read twice: for a failure with status 200, and for its value. */
const lastRead = new WeakMap<HttpReply, { schema: z.ZodType; read: Read<unknown> }>();

function readJson<S extends z.ZodType>(reply: HttpReply, schema: S): Read<z.output<S>> {
  const known = lastRead.get(reply);
  if (known?.schema === schema) return known.read as Read<z.output<S>>;
  const read = freshRead(reply, schema);
  lastRead.set(reply, { schema, read });
  return read;
}

function freshRead<S extends z.ZodType>({ text }: HttpReply, schema: S): Read<z.output<S>> {
  let json: unknown;
  try {
    json = JSON.parse(text) as unknown;
  } catch {
    // Without the parser's message: it quotes the body, which may contain keys.
    return { json, problem: "the reply is not JSON." };
  }
  const checked = checkOptions(schema, json);
  if (checked.problem === null) return { json, value: checked.value };
  const { path, message } = checked.problem;
  return { json, problem: `in the reply, ${["$", ...path].join(".")} ${message}` };
}

/** Finds a failure with status 200 in the JSON that a request expects. */
export function refusalInJson(schema: z.ZodType): (reply: HttpReply) => Refusal | null {
  return (reply) => {
    const read = readJson(reply, schema);
    return refusalOf(read.json, { isReply: "value" in read });
  };
}

function valueOf<T>(
  endpoint: Endpoint,
  asked: HttpRequest,
  { reply, read }: { reply: HttpReply; read: Read<T> },
): T {
  if ("value" in read) return read.value;
  const body = quotedBody(withoutKeys(endpoint, reply.text));
  const message = `${read.problem} Found: ${body}. Check that the address belongs to the right server.`;
  throw httpError("HTTP_BAD_REPLY", endpoint, { asked, message });
}

/** Requests to one endpoint, which share its rate limit and its pauses. */
type Attempts = (asked: HttpRequest) => Promise<HttpReply>;

/** @param environment clock, chance and sleep. */
function attempts(endpoint: Endpoint, environment: HttpEnvironment): Attempts {
  const { settings } = endpoint;
  const { now } = environment;
  const gate = gateOf(endpoint, environment);
  return async (asked) => {
    let spentMs = 0;
    for (let attempt = 1; ; attempt++) {
      await gate.pass(asked.signal);
      const started = now();
      const until = started + settings.deadlineMs - spentMs;
      const outcome = await freshAttempt(endpoint, asked, () => until - now());
      spentMs += now() - started;
      if (!("kind" in outcome)) return outcome;
      const wait = waitAfter(outcome, attempt, { settings, environment });
      const isFinal = outcome.kind === "status" && asked.isFinal?.(outcome) === true;
      const again =
        isRepeatable(asked) && isRetried(outcome) && !isFinal && attempt <= settings.retries;
      const outOfTime = again && spentMs + wait.delayMs >= settings.deadlineMs;
      if (!again || outOfTime) {
        const keyVariables = Object.keys(endpoint.keys ?? {});
        const { deadlineMs } = settings;
        const spent = { attempts: attempt, spentMs, deadlineMs, outOfTime };
        throw await givenUp(endpoint, asked, { failure: outcome, keyVariables, ...spent });
      }
      endpoint.onRetry?.();
      gate.pause(wait.pauseMs);
      await environment.sleep(wait.delayMs, asked.signal);
      spentMs += wait.delayMs;
    }
  };
}

/** The delay of this request before its retry, and the pause of all other requests to the endpoint. */
function waitAfter(
  failure: Failure,
  attempt: number,
  { settings, environment }: Pick<Endpoint, "settings"> & { environment: HttpEnvironment },
): { delayMs: number; pauseMs: number } {
  const asksFor = failure.kind === "status" ? failure.headers.get("retry-after") : null;
  const asked = retryAfterMs(asksFor, environment.date());
  const { random } = environment;
  const delay = delayMs({ attempt, firstMs: settings.retryDelayMs, retryAfterMs: asked, random });
  const isBusy = failure.kind === "status" && failure.status === 429;
  return { delayMs: delay, pauseMs: asked > 0 ? asked : isBusy ? delay : 0 };
}

interface Gate {
  /** Resolves when a request may be sent. */
  pass(signal: AbortSignal | undefined): Promise<void>;
  /** Sends nothing for this long. */
  pause(ms: number): void;
}

/** A server's request to slow down applies to all requests: they wait too, and resume spread over `retryDelayMs`. */
function gateOf({ settings }: Endpoint, environment: HttpEnvironment): Gate {
  const { now, random, sleep } = environment;
  const requests = pace(settings.requestsPerMinute, environment);
  let pausedUntil = 0;
  return {
    async pass(signal) {
      const isPaced = settings.requestsPerMinute !== null;
      if (isPaced) await requests.take(1, signal);
      for (let ms = pausedUntil - now(); ms > 0; ms = pausedUntil - now())
        await sleep(ms + Math.round(random() * settings.retryDelayMs), signal);
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
    },
  };
}

/**
 * A server may close a kept-alive connection at any time (llama.cpp does after every stream). A request that was sent over such a
 * connection is sent again at once over a new one, and this does not count as a failed attempt. What cannot be sent again waits two turns of
 * the event loop: a process that has computed for seconds has not yet heard which connections were closed meanwhile.
 */
async function freshAttempt(
  endpoint: Endpoint,
  asked: HttpRequest,
  leftMs: () => number,
): Promise<HttpReply | Failure> {
  // Two: the first ends the turn that this is part of.
  for (let i = 0; i < 2 && !isRepeatable(asked); i++) await turn();
  const keeping = isRepeatable(asked) ? "long" : "brief";
  const outcome = await attemptOnce(endpoint, asked, { leftMs: leftMs(), keeping });
  const isStale = "kind" in outcome && outcome.kind === "unreachable" && outcome.isStale;
  // Never over another kept-alive connection: a server that fails by closing would receive one request per connection.
  if (!isStale || !isRepeatable(asked)) return outcome;
  return attemptOnce(endpoint, asked, { leftMs: leftMs(), keeping: "alone" });
}

async function attemptOnce(
  endpoint: Endpoint,
  asked: HttpRequest,
  { leftMs, keeping }: { leftMs: number; keeping: Keeping },
): Promise<HttpReply | Failure> {
  const { timeoutMs, maxReplyBytes } = endpoint.settings;
  const isGood = (status: number): boolean =>
    (status >= 200 && status < 300) || asked.accepts?.includes(status) === true;
  const { reader } = asked;
  const outcome = await exchange(
    requestUrl(endpoint.url, asked.path ?? "", asked.parameters ?? {}),
    outgoing(endpoint, asked),
    {
      timeoutMs: Math.min(timeoutMs, Math.max(leftMs, 1)),
      maxReplyBytes,
      signal: asked.signal,
      keeping,
      reader: reader && ((head) => (isGood(head.status) ? reader(head) : null)),
    },
  );
  if ("kind" in outcome) return outcome;
  const { status, headers, text } = outcome;
  const failed = isGood(status) ? (asked.failureIn?.(outcome) ?? null) : { status, body: text };
  return failed === null ? outcome : { kind: "status", ...failed, headers };
}

function outgoing(endpoint: Endpoint, asked: HttpRequest): Parameters<typeof exchange>[1] {
  const { body } = asked;
  const hasBody = body !== undefined;
  return {
    method: methodOf(asked),
    headers: definedValues({
      accept: "application/json",
      "content-type": hasBody ? "application/json" : undefined,
      ...endpoint.headers,
      ...asked.headers,
    }),
    body: hasBody
      ? typeof body === "string" || body instanceof Uint8Array
        ? body
        : JSON.stringify(body)
      : null,
  };
}

function isRepeatable(asked: HttpRequest): boolean {
  return asked.idempotent ?? methodOf(asked) === "GET";
}

function methodOf({ method, body }: HttpRequest): "GET" | "POST" {
  return method ?? (body === undefined ? "GET" : "POST");
}
