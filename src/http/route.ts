import { definedValues } from "../base/defined-values.ts";
import { getProxyForUrl } from "proxy-from-env";
import type { buildConnector, Dispatcher } from "undici";
import { ConfigError } from "../base/errors.ts";
import { holdEndWhilePaused } from "./held-end.ts";
import { loadUndici } from "./load-undici.ts";

/** How a request reaches an address: directly or over a proxy. */
export interface Route {
  dispatcher: Dispatcher;
  /** The target for the dispatcher. A proxy without a tunnel gets the whole address as the path. */
  target: { origin: string; path: string; headers: Readonly<Record<string, string>> };
  /** The proxy, without name and password; null: a direct connection. */
  proxy: string | null;
}

/** Errors of reused connections: the server may have closed the connection before the request arrived. */
const staleErrors = new WeakSet<Error>();

/** Whether a request failed because its reused connection was closed, so that a new connection may work. */
export function isStaleConnection(error: Error): boolean {
  return staleErrors.has(error);
}

const CONNECT_MS = 30_000;

function connector(): buildConnector.connector {
  const connectSocket = loadUndici().buildConnector({ timeout: CONNECT_MS });
  return (options, callback) =>
    connectSocket(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      holdEndWhilePaused(socket);
      socket.on("error", (cause: Error) => {
        if (socket.bytesRead > 0) staleErrors.add(cause);
      });
      callback(null, socket);
    });
}

/** The clients set their own deadlines. Idle connections do not keep the process alive. */
const OPTIONS = { headersTimeout: 0, bodyTimeout: 0 };

/**
 * How an idle connection is used again. `alone`: not at all. `brief`: for 4 s, before servers close it (uvicorn: 5 s). `long`: as long as the
 * server keeps it, up to a minute, for requests that may be sent again when it closed. A server that states its own time is believed.
 */
export type Keeping = "alone" | "brief" | "long";

const KEEPING = {
  alone: { pipelining: 0 },
  brief: {},
  long: { keepAliveTimeout: 60_000 },
} satisfies Record<Keeping, object>;

const dispatchers = new Map<string, Dispatcher>();

/**
 * The route to an address: over the proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names (lower case too), unless NO_PROXY lists
 * the host. Requests to this machine never use a proxy.
 *
 * @throws {ConfigError} PROXY_BAD
 * @throws {ExternalError} ADDRESS_SPACE
 */
export function routeTo(url: URL, keeping: Keeping = "brief"): Route {
  const named = isThisMachine(url.hostname) ? "" : getProxyForUrl(url.href);
  const options = { ...OPTIONS, ...KEEPING[keeping] };
  const path = url.pathname + url.search;
  const direct = (): Dispatcher =>
    kept(`direct ${keeping}`, () => new (loadUndici().Agent)({ ...options, connect: connector() }));
  if (named === "")
    return { dispatcher: direct(), target: { origin: url.origin, path, headers: {} }, proxy: null };
  const { origin, authorization } = proxyAddress(named, url);
  if (url.protocol === "https:") {
    const tunnel = (): Dispatcher =>
      new (loadUndici().ProxyAgent)({ ...options, uri: origin, token: authorization ?? undefined });
    const dispatcher = kept(`tunnel ${keeping} ${named}`, tunnel);
    return { dispatcher, target: { origin: url.origin, path, headers: {} }, proxy: origin };
  }
  const headers = definedValues({
    host: url.host,
    "proxy-authorization": authorization ?? undefined,
  });
  return {
    dispatcher: direct(),
    target: { origin, path: url.origin + path, headers },
    proxy: origin,
  };
}

function kept(key: string, open: () => Dispatcher): Dispatcher {
  const dispatcher = dispatchers.get(key) ?? open();
  dispatchers.set(key, dispatcher);
  return dispatcher;
}

/** Errors never show the value: it may hold a password. */
function proxyAddress(named: string, url: URL): { origin: string; authorization: string | null } {
  const proxy = URL.canParse(named) ? new URL(named) : null;
  if (proxy !== null && /^https?:$/.test(proxy.protocol)) {
    const { origin, username, password } = proxy;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const isAnonymous = username === "" && password === "";
    const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    return { origin, authorization: isAnonymous ? null : authorization };
  }
  const found =
    proxy === null ? "which is not a valid address" : `with the protocol ${proxy.protocol}//`;
  throw new ConfigError(
    "PROXY_BAD",
    `HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names a proxy for ${url.origin} ${found}. Known: http://host:port and https://host:port. Correct the variable, or except the host with NO_PROXY=${url.hostname}.`,
  );
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
