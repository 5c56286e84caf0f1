import { setMaxListeners } from "node:events";
import { checkOptions, type z } from "../base/schema.ts";
import { type PendingCall, waits } from "../base/waits/waits.ts";
import { attempts } from "./attempts.ts";
import type { HttpReply } from "./exchange.ts";
import { quotedBody, httpError, withoutKeys } from "./http-error.ts";
import { requestUrl } from "./http-options.ts";
import { limiter } from "./concurrency.ts";
import { loadUndici } from "./load-undici.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import {
  type Endpoint,
  type HttpEnvironment,
  type HttpRequest,
  systemEnvironment,
} from "./endpoint.ts";

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
