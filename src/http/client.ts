import { setMaxListeners } from "node:events";
import type { ExternalError } from "../base/errors.ts";
import { checkOptions, type z } from "../base/schema.ts";
import { type PendingCall, waits } from "../base/waits/waits.ts";
import { attempts } from "./attempts.ts";
import type { HttpReply } from "./exchange.ts";
import { quotedBody, httpError, withoutKeys } from "./http-error.ts";
import { requestUrl } from "./http-options.ts";
import { limiter } from "./concurrency.ts";
import {
  type Endpoint,
  type HttpEnvironment,
  type HttpRequest,
  systemEnvironment,
} from "./endpoint.ts";

/** A client of one endpoint. */
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
   * `request` for a JSON reply.
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

/** A client with bounded concurrency, retries and coded errors. */
export function httpClient(
  endpoint: Endpoint,
  environment: HttpEnvironment = systemEnvironment,
): HttpClient {
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
    parseReply(endpoint, asked, { reply, schema });
  return {
    request,
    parsed,
    async json(asked, schema) {
      const reply = await request(asked);
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

function parseReply<S extends z.ZodType>(
  endpoint: Endpoint,
  asked: HttpRequest,
  { reply, schema }: { reply: HttpReply; schema: S },
): z.output<S> {
  const bad = (problem: string): ExternalError => {
    const body = quotedBody(withoutKeys(endpoint, reply.text));
    const message = `${problem} Found: ${body}. Check that the address belongs to the right server.`;
    return httpError("HTTP_BAD_REPLY", endpoint, { asked, message });
  };
  let value: unknown;
  try {
    value = JSON.parse(reply.text) as unknown;
  } catch {
    throw bad("the reply is not JSON."); // no cause: the parser's message quotes the body, which may contain keys
  }
  const checked = checkOptions(schema, value);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  throw bad(`in the reply, ${["$", ...path].join(".")} ${message}`);
}
