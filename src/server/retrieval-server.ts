/**
 * A retriever over HTTP, in the words of Search-R1's server (`POST /retrieve`) and, for what is wrong, of the FastAPI that
 * runs it; with what that one lacks: a bound on what is taken in, deadlines, a token, a fair share for every request, an
 * orderly end, `GET /health` and `GET /stats`.
 */
import { fastify, type FastifyInstance } from "fastify";
import { ConfigError, errorMessage } from "../base/errors.ts";
import { parseOptions, type z } from "../base/schema.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { checkExposure, tokenCheck, type ServerOptions, serverOptions } from "./server-options.ts";
import { admission } from "./admission.ts";
import { fairSearch } from "./fair-search.ts";
import { addRetrieve, refuse, type Service } from "./retrieve-route.ts";
import { retrieveRequestParser } from "./retrieve-request.ts";
import { type ServerStats, statsRecorder } from "./server-stats.ts";

/** A server that listens. */
export interface RetrievalServer {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  readonly stats: () => ServerStats;
  /**
   * Ends in order: new requests get 503, those taken in are answered, then the port is given back. What is not answered
   * within `timeoutMs` is given up. Calling it again waits for the same end.
   */
  readonly drain: () => Promise<void>;
}

/** What a server tells of itself, and to whom. */
export interface ServerBorders {
  /** Of this package, for `/health`. */
  version: string;
  /** Passages searched, for `/health`, where that is known. */
  passages?: number;
  /** Called with what a search threw, beside the 500 that the client gets. */
  onError?: (error: unknown) => void;
}

/**
 * Serves a retriever; closing that stays with the caller, after `drain`.
 *
 * @param given see `serverOptions`.
 * @throws {ConfigError} SERVER_UNPROTECTED when other machines could reach it and there is no token; SERVER_ADDRESS when
 *   it cannot listen there; RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY for bad options, the former also for a retriever that
 *   looks at more than queries.
 *
 * Source: Search-R1, search_r1/search/retrieval_server.py. Different here: `return_scores: false` gives bare documents, where
 * that one fails; every document has `id`, `contents`, `title` and `text`, where that one's depend on the index.
 */
export async function startRetrievalServer(
  retriever: Retriever,
  given: z.input<typeof serverOptions>,
  { version, passages, onError = () => undefined }: ServerBorders,
): Promise<RetrievalServer> {
  const options = parseOptions(serverOptions, given, "serve");
  checkExposure(options.host, options.token);
  checkReads(retriever);
  const service: Service = {
    options,
    room: admission(options.concurrency + options.maxQueue, options.memoryLimit),
    searches: fairSearch(retriever, options.concurrency),
    stats: statsRecorder(),
    parse: retrieveRequestParser(options.topkLimit),
    onError,
    calls: new Map(),
    draining: false,
    onEmpty: () => undefined,
  };
  const { name, fingerprint } = retriever;
  const app = application(service, fingerprint);
  addRetrieve(app, service);
  app.get("/stats", () => statsOf(service));
  app.get("/health", (_request, reply) => {
    reply.code(service.draining ? 503 : 200);
    const status = service.draining ? "draining" : "ok";
    return { status, name, version, fingerprint, passages };
  });
  const url = await listen(app, options);
  let ended: Promise<void> | null = null;
  return {
    url,
    stats: () => statsOf(service),
    drain: () => (ended ??= end(app, service)),
  };
}

/**
 * Over HTTP nobody is known to ask.
 * @throws {ConfigError} RECIPE_BAD_VALUE
 */
function checkReads({ name, reads = [] }: Retriever): void {
  if (reads.length === 0) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `serve: the retriever ${name} looks at the ${reads.join(" and ")} of the task that asks; over HTTP only queries come. Use it inside a recipe, or serve another.`,
  );
}

/** Everything but the routes. */
function application(service: Service, fingerprint: string): FastifyInstance {
  const { bodyLimit, timeoutMs, token } = service.options;
  const app = fastify({
    bodyLimit,
    requestTimeout: timeoutMs,
    routerOptions: { ignoreTrailingSlash: true },
    // What is to be said at the end, the routes say.
    return503OnClosing: false,
  });
  const allowed = tokenCheck(token ?? null);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-index-fingerprint", fingerprint);
    if (request.routeOptions.url === "/health" || allowed(request.headers.authorization)) {
      done();
      return;
    }
    if (request.routeOptions.url === "/retrieve") service.stats.record("invalid", 0);
    reply.header("www-authenticate", "Bearer");
    refuse(reply, 401, "Not authenticated");
  });
  // All replies are JSON; FastAPI names no charset.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    reply.type("application/json");
    done();
  });
  // As text: whether it is JSON of the right shape is answered in FastAPI's words.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => {
    done(null, body);
  });
  app.setNotFoundHandler((request, reply) => {
    const method = METHODS[request.url.replace(/\/?(\?.*)?$/, "")];
    if (method === undefined) return refuse(reply, 404, "Not Found");
    return refuse(reply.header("allow", method), 405, "Method Not Allowed");
  });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return refuse(reply, statusCode, errorMessage(error));
    service.onError(error);
    return refuse(reply, statusCode, "Internal Server Error");
  });
  return app;
}

const METHODS: Partial<Record<string, string>> = {
  "/retrieve": "POST",
  "/health": "GET",
  "/stats": "GET",
};

function statsOf({ stats, searches, calls }: Service): ServerStats {
  const inFlight = searches.running;
  return { ...stats.read(), inFlight, queued: calls.size - inFlight };
}

/** @throws {ConfigError} SERVER_ADDRESS */
async function listen(app: FastifyInstance, { host, port }: ServerOptions): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw new ConfigError(
      "SERVER_ADDRESS",
      `serve: cannot listen on ${host}, port ${port} (${errorMessage(error)}). Choose another --port (0 takes any free one) or --host.`,
      { cause: error },
    );
  }
  const address = app.server.address();
  const found = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${found}`;
}

/** Milliseconds for connections to close once the last reply is out. */
const CLOSING_MS = 500;

async function end(app: FastifyInstance, service: Service): Promise<void> {
  service.draining = true;
  if (service.calls.size > 0) {
    const empty = new Promise<void>((resolve) => {
      service.onEmpty = resolve;
    });
    const timer = setTimeout(() => {
      for (const call of service.calls.values()) call.giveUp(503, "The server is stopping.");
    }, service.options.timeoutMs);
    await empty;
    clearTimeout(timer);
  }
  const closing = app.close();
  const timer = setTimeout(() => {
    app.server.closeAllConnections();
  }, CLOSING_MS);
  await closing;
  clearTimeout(timer);
}
