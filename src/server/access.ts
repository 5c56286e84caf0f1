/**
 * Which requests a server answers. With a token: those that carry it. Without one (on this machine alone): those of programs on this machine,
 * and no web page's. A page of another origin is known by its Origin or Sec-Fetch-Site; a page whose name was made to resolve to this machine
 * (DNS rebinding), which sends neither, by its Host.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ConfigError } from "../base/errors.ts";

/** Why a request is not answered: no token, or another origin. */
export type Denial = { status: 401 } | { status: 403; message: string };

/**
 * @param isOpen the route needs no token.
 * @returns null: the request is answered.
 */
export type Access = (headers: IncomingHttpHeaders, isOpen?: boolean) => Denial | null;

/**
 * @param token undefined: no request needs one.
 * @throws {ConfigError} SERVER_UNPROTECTED when other machines could reach a server without a token.
 */
export function accessRule({ host, token }: { host: string; token?: string }): Access {
  const isLocal = isLoopback(urlOf(host.includes(":") ? `http://[${host}]` : `http://${host}`));
  if (token === undefined && !isLocal)
    throw new ConfigError(
      "SERVER_UNPROTECTED",
      `serve: host "${host}" is reachable from other machines, but there is no token. Use 127.0.0.1, or put a token into an environment variable and pass its name: --token-env AGENTRL_TOKEN.`,
    );
  const hasToken = tokenCheck(token);
  return (headers, isOpen = false) => {
    // No page knows the token.
    if (hasToken(headers.authorization)) return null;
    const foreign = isLocal ? foreignHeader(headers) : null;
    if (foreign !== null)
      return {
        status: 403,
        message: `${foreign} Programs on this machine may use the server by its address, http://127.0.0.1 with its port; web pages may not. Others need a token: start the server with --token-env and send it.`,
      };
    return token === undefined || isOpen ? null : { status: 401 };
  };
}

/** The header that tells of another origin, in words. */
function foreignHeader(headers: IncomingHttpHeaders): string | null {
  const { host, origin, "sec-fetch-site": site } = headers;
  const own = host === undefined ? null : urlOf(`http://${host}`);
  if (host !== undefined && !isLoopback(own))
    return `The request's Host is ${quoted(host)}, not this machine.`;
  if (origin !== undefined && (own === null || urlOf(origin)?.host !== own.host))
    return `The request comes from a web page, Origin ${quoted(origin)}.`;
  if (site === "cross-site" || site === "same-site")
    return `The request comes from a web page, Sec-Fetch-Site ${quoted(site)}.`;
  return null;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** In a URL's normal form (case, IPv6, short IPv4), without the dot that may end a name; null for anything but scheme, host and port. */
function urlOf(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.href !== `${url.origin}/`) return null;
  url.hostname = url.hostname.replace(/\.$/, "");
  return url;
}

/** Does not resolve names: only the usual loopback names are safe. */
function isLoopback(url: URL | null): boolean {
  return url !== null && /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(url.hostname);
}

/** A check of the Authorization header that takes the same time for every wrong token; without a token none is right. */
function tokenCheck(token: string | undefined): (authorization: string | undefined) => boolean {
  if (token === undefined) return () => false;
  const expected = digest(token);
  return (authorization = "") => {
    const [, found = ""] = /^Bearer +(.+)$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(found), expected);
  };
}

/** A digest, because constant-time comparison needs equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
