import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";

const positive = z.int().min(1);

/** How a retrieval server behaves. */
export const serverOptions = z.strictObject({
  /** Address to listen on; beyond loopback only with a token. */
  host: z.string().min(1).default("127.0.0.1"),
  /** 0 takes any free port. */
  port: z.int().min(0).max(65_535).default(8000),
  /** What clients must send as `Authorization: Bearer TOKEN`. */
  token: z.string().min(1).optional(),
  /** Searches that run at once. Searching on this machine gains nothing from more; remote engines do. */
  concurrency: positive.default(8),
  /** Requests that may wait beside those; the next one is answered 429. */
  maxQueue: z.int().min(0).default(256),
  /** Bytes that a request's body may have: 10 000 questions take about 1 MB. */
  bodyLimit: positive.default(4 * 1024 * 1024),
  /** Bytes of bodies and replies held at once, over all requests: what bounds the server's memory under load. */
  memoryLimit: positive.default(256 * 1024 * 1024),
  /** Milliseconds from a request's arrival to its answer, waiting included, and again for the client to read it. */
  timeoutMs: positive.default(30_000),
  /** Largest `topk` that a request may ask for. */
  topkLimit: positive.default(1000),
});

/** Options with their defaults filled in. */
export type ServerOptions = z.output<typeof serverOptions>;

/**
 * Refuses to serve other machines without a token.
 * @throws {ConfigError} SERVER_UNPROTECTED
 */
export function checkExposure(host: string, token: string | undefined): void {
  if (token !== undefined || isLoopback(host)) return;
  throw new ConfigError(
    "SERVER_UNPROTECTED",
    `serve: host "${host}" can be reached from other machines and there is no token. Serve 127.0.0.1, or put a token into an environment variable and name it: --token-env AGENTRL_TOKEN.`,
  );
}

/**
 * A check of the Authorization header that takes the same time for every wrong token.
 * @param token null lets everybody in.
 */
export function tokenCheck(token: string | null): (authorization: string | undefined) => boolean {
  if (token === null) return () => true;
  const expected = digest(token);
  return (authorization = "") => {
    const [, found = ""] = /^Bearer +(.+)$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(found), expected);
  };
}

/** Names are not looked up: only the usual one is known to stay on this machine. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Equal lengths, which a comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
