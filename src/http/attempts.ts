import { definedValues } from "../base/defined-values.ts";
import type { Endpoint, HttpEnvironment, HttpRequest } from "./endpoint.ts";
import { exchange, type Failure, type HttpReply } from "./exchange.ts";
import { givenUp } from "./http-error.ts";
import { requestUrl } from "./http-options.ts";
import { pace } from "./concurrency.ts";
import { delayMs, isRetried, retryAfterMs } from "./retry.ts";

/** Requests to one endpoint, which share its rate limit and its pauses. */
export type Attempts = (asked: HttpRequest) => Promise<HttpReply>;

/** @param environment clock, chance and sleep. */
export function attempts(endpoint: Endpoint, environment: HttpEnvironment): Attempts {
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
 * connection is sent again at once over a new one, and this does not count as a failed attempt.
 */
async function freshAttempt(
  endpoint: Endpoint,
  asked: HttpRequest,
  leftMs: () => number,
): Promise<HttpReply | Failure> {
  const outcome = await attemptOnce(endpoint, asked, { leftMs: leftMs() });
  const isStale = "kind" in outcome && outcome.kind === "unreachable" && outcome.isStale;
  // Never over another kept-alive connection: a server that fails by closing would receive one request per connection.
  if (!isStale || !isRepeatable(asked)) return outcome;
  return attemptOnce(endpoint, asked, { leftMs: leftMs(), isAlone: true });
}

async function attemptOnce(
  endpoint: Endpoint,
  asked: HttpRequest,
  { leftMs, isAlone = false }: { leftMs: number; isAlone?: boolean },
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
      isAlone,
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
