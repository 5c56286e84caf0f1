import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { fastify, type FastifyInstance, type FastifyReply } from "fastify";
import { ConfigError, errorMessage } from "../base/errors.ts";
import { type Admission, admission } from "./admission.ts";

export interface AppOptions {
  /** Listen address; addresses other than loopback require a token. */
  host: string;
  token?: string;
  /** Largest body in bytes. */
  bodyLimit: number;
  /** Milliseconds in which a request must have arrived; default 60 000. */
  arrivalMs?: number;
  /** The route that needs no token. */
  health: string;
  /** Message for a client that lacks the right token. */
  noToken: string;
  /** The header of the token where it is not Authorization; its value is the token. */
  tokenHeader?: string;
  /** Whether the routes themselves bound the memory of bodies. */
  admits?: boolean;
  /** Sends a refusal in the server's own form. @param status 401, 403, 429 */
  refuse: (reply: FastifyReply, status: number, message: string) => unknown;
}

/** The application of a server without its routes. */
export interface ServerApp {
  app: FastifyInstance;
  access: Access;
  /** Memory of requests under way. */
  room: Admission;
}

/** Bytes of bodies at once, over all requests: at least this, and four of the largest. */
const LEAST_MEMORY = 64 * 2 ** 20;

/** After this time without a sign of life the system asks whether the other side is still there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * What all servers have in common: who may ask (`accessRule`), how much may be under way, and how long a client may take to send it.
 * @throws {ConfigError} SERVER_UNPROTECTED
 */
export function serverApp(options: AppOptions): ServerApp {
  const {
    host,
    token,
    bodyLimit,
    arrivalMs = 60_000,
    health,
    tokenHeader,
    admits = false,
    refuse,
  } = options;
  const access = accessRule({ host, token });
  const room = admission(Infinity, Math.max(LEAST_MEMORY, 4 * bodyLimit));
  const app = fastify({
    bodyLimit,
    requestTimeout: arrivalMs,
    routerOptions: { ignoreTrailingSlash: true },
    // The routes send the final messages.
    return503OnClosing: false,
  });
  // A client whose machine is gone must not hold its place.
  app.server.on("connection", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  app.addHook("onRequest", ({ headers, routeOptions: { url } }, reply, done) => {
    const given = tokenHeader === undefined ? undefined : headers[tokenHeader];
    const asked =
      typeof given === "string" ? { ...headers, authorization: `Bearer ${given}` } : headers;
    const denial = access(asked, url === health);
    if (denial !== null) {
      const message = denial.status === 401 ? options.noToken : denial.message;
      refuse(reply, denial.status, message);
    } else if (admits || url === health) done();
    else {
      const length = Number(
        headers["content-length"] ?? (headers["transfer-encoding"] === undefined ? 0 : bodyLimit),
      );
      const place = room.enter(Math.min(length, bodyLimit));
      if (typeof place === "string") {
        refuse(
          reply.header("retry-after", 1),
          429,
          "The server is full. Try again after the seconds in Retry-After.",
        );
        return;
      }
      reply.raw.once("close", () => {
        place.leave();
      });
      done();
    }
  });
  return { app, access, room };
}

/**
 * Starts a server, or closes it where the address cannot be used.
 * @param command for messages: `serve`.
 * @returns its address, with the port that was taken.
 * @throws {ConfigError} SERVER_ADDRESS
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  command: string,
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw new ConfigError(
      "SERVER_ADDRESS",
      `${command}: cannot listen on ${host}, port ${port} (${errorMessage(error)}). Choose another --port (0 takes any free one) or --host.`,
      { cause: error },
    );
  }
  const address = app.server.address();
  const found = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${found}`;
}

/** Why a request is not answered: no token, or another origin. */
type Denial = { status: 401 } | { status: 403; message: string };

/** @param isOpen the route needs no token. @returns null: the request is answered. */
type Access = (headers: IncomingHttpHeaders, isOpen?: boolean) => Denial | null;

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
