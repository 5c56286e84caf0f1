import * as http from "node:http";
import * as https from "node:https";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { getProxyForUrl } from "proxy-from-env";
import { ConfigError } from "../base/errors.ts";

/** How a request comes to an address. */
export interface Route {
  request: typeof http.request;
  /** False: a connection of its own, which is closed after it. */
  agent: http.Agent | false;
  /** The proxy in between, without name and password; null: there is none. */
  proxy: string | null;
}

/** Sockets stay open for the next request; idle ones keep no process alive. How many there are is for the clients to bound. */
const kept = { keepAlive: true, maxFreeSockets: 1024 };
const direct = { "http:": new http.Agent(kept), "https:": new https.Agent(kept) };
const overProxies = new Map<string, http.Agent>();

/**
 * The way to an address: over the proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names (small letters too), unless NO_PROXY excepts
 * the host. This machine itself is asked directly whatever they say.
 *
 * @param isAlone over a connection of its own, which is closed after the request.
 * @throws {ConfigError} PROXY_BAD
 */
export function routeTo(url: URL, isAlone = false): Route {
  const scheme = url.protocol === "https:" ? "https:" : "http:";
  const { request } = scheme === "https:" ? https : http;
  const named = isThisMachine(url.hostname) ? "" : getProxyForUrl(url.href);
  if (named === "") return { request, agent: isAlone ? false : direct[scheme], proxy: null };
  const proxy = proxyAddress(named, url);
  const open = (options: typeof kept | undefined): http.Agent =>
    scheme === "https:" ? new HttpsProxyAgent(proxy, options) : new HttpProxyAgent(proxy, options);
  const key = `${scheme} ${named}`;
  const agent = isAlone ? open(undefined) : (overProxies.get(key) ?? open(kept));
  if (!isAlone) overProxies.set(key, agent);
  return { request, agent, proxy: proxy.origin };
}

/** The value itself is not told: it may hold a password. */
function proxyAddress(named: string, url: URL): URL {
  const proxy = URL.canParse(named) ? new URL(named) : null;
  if (proxy !== null && /^https?:$/.test(proxy.protocol)) return proxy;
  const found = proxy === null ? "which is no address" : `of the kind ${proxy.protocol}//`;
  throw new ConfigError(
    "PROXY_BAD",
    `HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names a proxy for ${url.origin} ${found}. Known: http://host:port and https://host:port. Correct the variable, or except the host with NO_PROXY=${url.hostname}.`,
  );
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
