import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../base/errors.ts";

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
