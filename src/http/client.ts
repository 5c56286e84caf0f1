import { setMaxListeners } from "node:events";
import type { ExternalError } from "../base/errors.ts";
import { checkOptions, type z } from "../base/schema.ts";
import { type Wait, waits } from "../base/waits/waits.ts";
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
   * Asks until there is an answer or no attempt is left.
   *
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT or HTTP_STATUS by what the last attempt met,
   *   HTTP_BAD_REPLY for a reply above `maxReplyBytes` or refused by its reader.
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
  ): Promise<{ value: z.output<S>; headers: HttpReply["headers"]; totalMs: number }>;
  /**
   * What a reply's text says.
   * @throws {ExternalError} HTTP_BAD_REPLY when it is not JSON or not of that shape.
   */
  parsed<S extends z.ZodType>(request: HttpRequest, reply: HttpReply, schema: S): z.output<S>;
}

/** A client that bounds its requests, retries them and names its failures. */
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

/** How a request is told that lasts; it is given up by its own deadline. */
function waitOf({ name, url }: Endpoint, { path = "" }: HttpRequest): Wait {
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
