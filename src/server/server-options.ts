import { z } from "../base/schema.ts";

const positive = z.int().min(1);

/** Options of a retrieval server. */
export const serverOptions = z.strictObject({
  /** Listen address; addresses other than loopback require a token. */
  host: z.string().min(1).default("127.0.0.1"),
  /** 0 selects any free port. */
  port: z.int().min(0).max(65_535).default(8000),
  /** Clients must send it as `Authorization: Bearer TOKEN`. */
  token: z.string().min(1).optional(),
  /** Concurrent searches. More do not help local search, but they help remote engines. */
  concurrency: positive.default(8),
  /** Maximum number of waiting requests; further ones get status 429. */
  maxQueue: z.int().min(0).default(256),
  /** Maximum size of a request's body in bytes: 10 000 questions take about 1 MB. */
  bodyLimit: positive.default(4 * 1024 * 1024),
  /** Maximum bytes of bodies and replies at once, over all requests: the server's memory limit under load. */
  memoryLimit: positive.default(256 * 1024 * 1024),
  /** Milliseconds from a request's arrival to its answer, including waits; the client gets the same time to read it. */
  timeoutMs: positive.default(30_000),
  /** Maximum `topk` of a request. */
  topkLimit: positive.default(1000),
});

/** Checked options with defaults. */
export type ServerOptions = z.output<typeof serverOptions>;
