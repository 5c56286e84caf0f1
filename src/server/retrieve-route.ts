import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AgentrlError } from "../base/errors.ts";
import type { Admission, Place, Refusal } from "./admission.ts";
import type { FairSearch } from "./fair-search.ts";
import { hitsJson, type ParsedRequest, type RetrieveRequest } from "./retrieve-request.ts";
import type { ServerOptions } from "./server-options.ts";
import type { Outcome, StatsRecorder } from "./server-stats.ts";

/** State that all requests share. */
export interface Service {
  readonly options: ServerOptions;
  readonly room: Admission;
  readonly searches: FairSearch;
  readonly stats: StatsRecorder;
  readonly parse: (body: string, contentType: string | undefined) => ParsedRequest;
  readonly onError: (error: unknown) => void;
  /** Accepted requests for passages in progress. */
  readonly calls: Map<FastifyRequest, Call>;
  /** Whether the shutdown has started. */
  draining: boolean;
  /** Called when the last request has ended. */
  onEmpty: () => void;
}

/** A request for passages, from its arrival until its reply is sent or aborted. */
export interface Call {
  readonly signal: AbortSignal;
  readonly place: Place;
  /** Restarts the deadline for sending the answer. */
  startSending(): void;
  /** Answers with an error, or disconnects a client that does not read its answer. */
  giveUp(status: number, detail: string): void;
}

/** Adds `POST /retrieve`. */
export function addRetrieve(app: FastifyInstance, service: Service): void {
  app.post("/retrieve", {
    // Before the body is read, so that a rejected request costs nothing.
    onRequest: (request, reply, done) => {
      if (takeIn(request, reply, service)) done();
    },
    handler: (request, reply) => answer(request, reply, service),
  });
}

/** Sends an error in FastAPI's format. */
export function refuse(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply.code(status).send({ detail });
}

/** Accepts a request, or answers that the server is full. */
function takeIn(request: FastifyRequest, reply: FastifyReply, service: Service): boolean {
  const { bodyLimit, timeoutMs } = service.options;
  if (service.draining) {
    service.stats.record("rejected", 0);
    const retry = service.stats.retryAfterSeconds();
    reply.header("connection", "close").header("retry-after", retry);
    refuse(reply, 503, "The server is stopping.");
    return false;
  }
  const length = Number(request.headers["content-length"] ?? bodyLimit);
  const place = service.room.enter(Math.min(length, bodyLimit));
  if (typeof place === "string") {
    service.stats.record("rejected", 0);
    noRoom(reply, place, service);
    return false;
  }
  const arrived = performance.now();
  const abort = new AbortController();
  let sending = false;
  const call: Call = {
    signal: abort.signal,
    place,
    startSending() {
      sending = true;
      timer.refresh();
    },
    giveUp(status, detail) {
      abort.abort(new Error(detail));
      if (sending || reply.raw.headersSent) {
        reply.raw.destroy();
        return;
      }
      // Do not wait for the rest of the body.
      if (!request.raw.complete) reply.header("connection", "close");
      refuse(reply, status, detail);
    },
  };
  const timer = setTimeout(() => {
    call.giveUp(504, `No answer within ${timeoutMs} ms.`);
  }, timeoutMs);
  service.calls.set(request, call);
  reply.raw.once("close", () => {
    clearTimeout(timer);
    place.leave();
    const finished = reply.raw.writableFinished;
    if (!finished) abort.abort(new Error("The client went away."));
    const outcome = finished ? outcomeOf(reply.statusCode) : "aborted";
    service.stats.record(outcome, performance.now() - arrived);
    service.calls.delete(request);
    if (service.calls.size === 0) service.onEmpty();
  });
  return true;
}

/** Searches slice by slice and sends the hits. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  service: Service,
): Promise<FastifyReply> {
  const call = service.calls.get(request);
  // The client left while its body was read.
  if (call === undefined) return reply;
  const body = typeof request.body === "string" ? request.body : "";
  const parsed = service.parse(body, request.headers["content-type"]);
  if ("problems" in parsed) return reply.code(422).send({ detail: parsed.problems });
  try {
    const pieces = await search(parsed.request, call, service);
    service.stats.addQueries(parsed.request.queries.length);
    call.startSending();
    return await sendPieces(reply, pieces);
  } catch (error) {
    if (call.signal.aborted) return reply;
    if (error instanceof NoRoom) return noRoom(reply, error.refusal, service);
    service.onError(error);
    const known = error instanceof AgentrlError;
    return refuse(reply, 500, known ? `${error.message} [${error.code}]` : "Internal Server Error");
  }
}

/** The reply's body, one piece per slice of the queries; as bytes, so that its size is known and it is off the heap. */
async function search(
  { queries, topk, returnScores }: RetrieveRequest,
  { signal, place }: Call,
  { searches }: Service,
): Promise<Buffer[]> {
  const pieces = [Buffer.from('{"result":[')];
  await searches.search({
    queries,
    k: topk,
    signal,
    onHits: (found) => {
      const comma = pieces.length > 1 ? "," : "";
      const text = found.map((hits) => hitsJson(hits, returnScores)).join(",");
      const piece = Buffer.from(comma + text);
      const refusal = place.hold(piece.length);
      if (refusal !== null) throw new NoRoom(refusal);
      pieces.push(piece);
    },
  });
  pieces.push(Buffer.from("]}"));
  return pieces;
}

/** Replies up to this size are sent at once. */
const SMALL_BYTES = 256 * 1024;

/** Between the pieces of a large reply, other requests get turns and a slow client can catch up. */
function sendPieces(reply: FastifyReply, pieces: Buffer[]): FastifyReply {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes <= SMALL_BYTES) return reply.send(Buffer.concat(pieces));
  return reply.header("content-length", bytes).send(Readable.from(pieces));
}

/** A reply exceeds the memory limit. */
class NoRoom extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

function noRoom(reply: FastifyReply, refusal: Refusal, service: Service): FastifyReply {
  if (refusal === "too-large") {
    const limit = service.options.memoryLimit;
    const detail = `Request and reply would exceed ${limit} bytes. Send fewer queries or use a smaller topk.`;
    return refuse(reply, 413, detail);
  }
  reply.header("retry-after", service.stats.retryAfterSeconds());
  return refuse(reply, 429, "The server is full. Try again after the seconds in Retry-After.");
}

function outcomeOf(status: number): Outcome {
  if (status === 429 || status === 503) return "rejected";
  if (status >= 500) return "failed";
  return status >= 400 ? "invalid" : "answered";
}
