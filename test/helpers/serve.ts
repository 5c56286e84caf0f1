import { onTestFinished } from "vitest";
import type { z } from "../../src/base/schema.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import {
  type RetrievalServer,
  type ServerBorders,
  startRetrievalServer,
} from "../../src/server/retrieval-server.ts";
import type { serverOptions } from "../../src/server/server-options.ts";

/** A server that listens, and how to ask it. */
export interface TestServer extends RetrievalServer {
  /** POST /retrieve. */
  retrieve: (body: unknown, init?: RequestInit) => Promise<Response>;
  get: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Serves a retriever on a free port until the test ends. */
export async function serveForTest(
  retriever: Retriever,
  options: z.input<typeof serverOptions> = {},
  borders: Partial<ServerBorders> = {},
): Promise<TestServer> {
  const all = { version: "1.2.3", ...borders };
  const server = await startRetrievalServer(retriever, { port: 0, ...options }, all);
  onTestFinished(() => server.drain());
  return {
    ...server,
    get: (path, init = {}) => fetch(`${server.url}${path}`, init),
    retrieve: (body, init = {}) =>
      fetch(`${server.url}/retrieve`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
      }),
  };
}
