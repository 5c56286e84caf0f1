import { createParser } from "eventsource-parser";
import { checkOptions, type z } from "../base/schema.ts";
import type { BodyReader, Failure } from "./exchange.ts";
import { refusalOf } from "./refusal.ts";

/** A reply that is assembled from the events of a stream. */
export interface StreamedReply<T> extends BodyReader {
  /** Call it only after the reply is complete. */
  reply(totalMs: number): T;
}

interface Pieces<C, T> {
  /** @param afterMs milliseconds after sending. */
  take(piece: C, afterMs: number): void;
  /** Whether a finish reason has arrived. */
  isOver(): boolean;
  reply(totalMs: number): T;
}

/**
 * Reads an OpenAI-compatible server's stream: pieces of JSON, `[DONE]` at the end. A stream without `[DONE]` is complete when a
 * piece has a finish reason; else it was cut. An object with `error` in the middle is a refusal.
 *
 * @param schema of a piece; other keys are allowed.
 */
export function streamedReply<S extends z.ZodType, T>(
  schema: S,
  pieces: Pieces<z.output<S>, T>,
): StreamedReply<T> {
  const parser = eventParser();
  let isDone = false;
  let failure: Failure | null = null;
  const take = ({ name, data }: ServerEvent, afterMs: number): void => {
    if (data === "[DONE]") {
      isDone = true;
      return;
    }
    const piece = parsed(data);
    const checked = checkOptions(schema, piece);
    const isReply = checked.problem === null && isPiece(piece);
    const refusal =
      piece === undefined && name === "error"
        ? { status: 500, body: data }
        : refusalOf(piece, { event: name, isReply });
    if (refusal !== null) failure = { kind: "status", ...refusal, headers: new Headers() };
    else if (checked.problem === null) pieces.take(checked.value, afterMs);
    else failure = { kind: "garbled", body: data };
  };
  return {
    push(bytes, afterMs) {
      for (const event of parser.push(bytes)) {
        take(event, afterMs);
        if (isDone || failure !== null) return true;
      }
      return false;
    },
    failure() {
      const rest = isDone || failure !== null ? null : parser.rest();
      // Half an event is a cut stream, not a garbled one.
      if (rest !== null && (rest.data === "[DONE]" || parsed(rest.data) !== undefined))
        take(rest, 0);
      if (failure !== null || isDone || pieces.isOver()) return failure;
      const other = parser.other().trim();
      if (other === "") return { kind: "cut", detail: "the stream ended before its end" };
      const refusal = refusalOf(parsed(other));
      return refusal === null
        ? { kind: "garbled", body: other }
        : { kind: "status", ...refusal, headers: new Headers() };
    },
    reply: (totalMs) => pieces.reply(totalMs),
  };
}

/** Events without choices carry counts, or an error. */
function isPiece(piece: unknown): boolean {
  return typeof piece === "object" && piece !== null && ("choices" in piece || "usage" in piece);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** One event of a stream: its name, if any, and its data, with lines joined. */
export interface ServerEvent {
  name: string;
  data: string;
}

const MAX_OTHER = 2 ** 16;

/**
 * Converts the bytes of server-sent events (text/event-stream), split anywhere, into events. Differences from WHATWG HTML, 9.2.6: `rest`
 * returns an event without its final blank line, because some servers omit that line after the last event; `error` as a field is an
 * event of that name, as in older llama.cpp.
 */
export function eventParser(): {
  push(bytes: Uint8Array): ServerEvent[];
  /** The incomplete last event; null when the stream ended between two events. */
  rest(): ServerEvent | null;
  /** Lines before the first event that belong to no event: a body that is no stream, despite its type. */
  other(): string;
} {
  const decoder = new TextDecoder();
  let events: ServerEvent[] = [];
  let other = "";
  let hasEvent = false;
  const take = (name: string, data: string): void => {
    hasEvent = true;
    events.push({ name, data });
  };
  const parser = createParser({
    onEvent({ event = "", data }) {
      take(event, data);
    },
    onError({ type, field, value = "", line = "" }) {
      if (field === "error") take(field, value);
      else if (type === "unknown-field") other = `${other}${line}\n`.slice(0, MAX_OTHER);
    },
  });
  const fed = (text: string): ServerEvent[] => {
    events = [];
    parser.feed(text);
    return events;
  };
  return {
    push: (bytes) => fed(decoder.decode(bytes, { stream: true })),
    rest: () => fed("\n\n")[0] ?? null,
    other: () => (hasEvent ? "" : other),
  };
}
