import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { httpClient } from "../../http/client.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { quotedBody, withoutKeys } from "../../http/http-error.ts";
import { Refused } from "./delivery.ts";

export const serverShape = {
  /** Milliseconds that one request may take. */
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
};

interface Question {
  path: string;
  parameters?: Readonly<Record<string, string>>;
  /** If present, the method is POST. */
  body?: unknown;
  /** Whether the client may retry it; default true. */
  idempotent?: boolean;
  signal: AbortSignal;
}

/**
 * Sends a request to a reporter's server and reads the reply.
 * @throws {ServerRefusal} for status 400, 404, 413 and 422: the same content would be refused
 * again.
 * @throws {ExternalError} as `HttpClient.json`.
 */
export type Ask = <S extends z.ZodType>(question: Question, schema: S) => Promise<z.output<S>>;

/** A server refused a request because of its content. */
export class ServerRefusal extends Refused {
  readonly status: number;
  readonly body: string;
  constructor(message: string, { status, body }: { status: number; body: string }) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

const REFUSALS = [400, 404, 413, 422];

/** A server's client: two quick retries; the queue makes longer pauses. */
export function serverOf(endpoint: Omit<Endpoint, "settings">, timeoutMs: number): Ask {
  const settings = {
    timeoutMs,
    deadlineMs: 2 * timeoutMs,
    retries: 2,
    retryDelayMs: 250,
    concurrency: 1,
    requestsPerMinute: null,
    maxReplyBytes: 4 * 2 ** 20,
  };
  const client = httpClient({
    nameOf: (key) => (key === "timeoutMs" ? key : null),
    ...endpoint,
    settings,
  });
  return async ({ path, parameters = {}, body, idempotent = true, signal }, schema) => {
    const asked = { path, parameters, body, idempotent, signal, accepts: REFUSALS };
    const reply = await client.request(asked);
    const { status } = reply;
    if (status < 300) return client.parsed(asked, reply, schema);
    const said = withoutKeys({ ...endpoint, settings }, reply.text);
    const message = `${endpoint.name} (${endpoint.url}${path}): status ${status}, saying ${quotedBody(said)}.`;
    throw new ServerRefusal(message, { status, body: said });
  };
}

/** Runs the requests that come before any event: a refusal there is not about the events, so they are kept. */
export async function untilConnected<T>(connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (error) {
    if (error instanceof Refused) throw new Error(error.message, { cause: error });
    throw error;
  }
}

/** Value of an environment variable, trimmed; undefined where it is not set or empty. */
export function environmentValue(variable: string): string | undefined {
  const value = process.env[variable]?.trim();
  return value === "" ? undefined : value;
}

/**
 * Address of a reporter's server: of the recipe, or of an environment variable.
 * @param hint what to start, and an example of an address.
 * @throws {ConfigError} RECIPE_BAD_VALUE when neither names one.
 */
export function addressOf(
  name: string,
  url: string | undefined,
  {
    variable,
    hint,
  }: { variable: string; hint: readonly [server: string, command: string, example: string] },
): { given: string; where: string } {
  const given = url ?? environmentValue(variable);
  const [server, command, example] = hint;
  if (given === undefined)
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `reporters: ${name}.url is missing, and so is the environment variable ${variable}: expected the address of a ${server}. Start one with \`${command}\` and write { name: ${name}, url: ${example} }.`,
    );
  return { given, where: url === undefined ? variable : `reporters: ${name}.url` };
}
