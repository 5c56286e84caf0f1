/**
 * A retriever over HTTP, compatible with Search-R1's server (`POST /retrieve`) and with the error format of FastAPI, which
 * runs it. Additions: limits on requests and memory, deadlines, a token, fair scheduling, graceful shutdown,
 * `GET /health` and `GET /stats`.
 */
import type { FastifyInstance } from "fastify";
import { ConfigError, errorMessage } from "../base/errors.ts";
import { parseOptions, type z } from "../base/schema.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { listen, serverApp } from "./server-app.ts";
import { serverOptions } from "./server-options.ts";
import { admission } from "./admission.ts";
import { fairSearch } from "./fair-search.ts";
import { addRetrieve, refuse, type Service } from "./retrieve-route.ts";
import { retrieveRequestParser } from "./retrieve-request.ts";
import { type ServerStats, statsRecorder } from "./server-stats.ts";

/** A listening server. */
export interface RetrievalServer {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  readonly stats: () => ServerStats;
  /**
   * Graceful shutdown: new requests get 503, accepted ones are answered, then the port is released. Requests still
   * unanswered after `timeoutMs` are aborted. Further calls wait for the same shutdown.
   */
  readonly drain: () => Promise<void>;
}

/** What a server reports, and where. */
export interface ServerBorders {
  /** The package's version, for `/health`. */
  version: string;
  /** Number of passages, for `/health`, if known. */
  passages?: number;
  /** Receives a search's error; the client gets status 500. */
  onError?: (error: unknown) => void;
}

/**
 * Serves a retriever; the caller closes the retriever after `drain`.
 *
 * @param given see `serverOptions`.
 * @throws {ConfigError} SERVER_UNPROTECTED when other machines could reach it without a token; SERVER_ADDRESS when
 *   it cannot listen; RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY for invalid options, the former also for a retriever that
 *   reads more than queries.
 *
 * Source: Search-R1, search_r1/search/retrieval_server.py. Different here: `return_scores: false` returns plain documents, where
 * that server fails; every document has `id`, `contents`, `title` and `text`, where that server's depend on the index.
 */
export async function startRetrievalServer(
  retriever: Retriever,
  given: z.input<typeof serverOptions>,
  { version, passages, onError = () => undefined }: ServerBorders,
): Promise<RetrievalServer> {
  const options = parseOptions(serverOptions, given, "serve");
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
  const url = await listen(app, options, "serve");
  let ended: Promise<void> | null = null;
  return { url, stats: () => statsOf(service), drain: () => (ended ??= end(app, service)) };
}

/** Rejects retrievers that read the task, because HTTP requests contain only queries. @throws {ConfigError} RECIPE_BAD_VALUE */
function checkReads({ name, reads = [] }: Retriever): void {
  if (reads.length === 0) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `serve: the retriever ${name} reads the task's ${reads.join(" and ")}, but HTTP requests contain only queries. Use it in a recipe, or serve another retriever.`,
  );
}

/** The application without its routes. */
function application(service: Service, fingerprint: string): FastifyInstance {
  const { host, bodyLimit, timeoutMs, token } = service.options;
  const { app } = serverApp({
    host,
    bodyLimit,
    arrivalMs: timeoutMs,
    health: "/health",
    admits: true,
    noToken: "Not authenticated",
    token,
    refuse(reply, status, message) {
      if (reply.request.routeOptions.url === "/retrieve") service.stats.record("invalid", 0);
      if (status === 401) reply.header("www-authenticate", "Bearer");
      refuse(reply, status, message);
    },
  });
  // All replies are JSON; FastAPI sends no charset.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    reply.type("application/json").header("x-index-fingerprint", fingerprint);
    done();
  });
  // As text, because the parser reports invalid JSON in FastAPI's format.
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

/** Milliseconds for connections to close after the last reply. */
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
