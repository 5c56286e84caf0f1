import { checkOptions, type z } from "../base/schema.ts";
import type { BodyReader, Failure } from "./exchange.ts";
import { refusalOf } from "./refusal.ts";
import { eventParser, type ServerEvent } from "./sse.ts";

/** A reply that is put together from the events of a stream. */
export interface StreamedReply<T> extends BodyReader {
  /** Once it is complete. */
  reply(totalMs: number): T;
}

/** How the pieces of one kind of reply are put together. */
export interface Pieces<C, T> {
  /** Milliseconds after sending. */
  take(piece: C, afterMs: number): void;
  /** Whether it has been said why the reply ended. */
  isOver(): boolean;
  reply(totalMs: number): T;
}

/**
 * Reads an OpenAI-compatible server's stream: pieces of JSON, `[DONE]` at the end. A stream without it is complete where a
 * piece has said why the reply ended; else it was cut. An object with `error` in the middle is a refusal.
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
    const refusal = refusalOf(piece, name);
    if (refusal !== null) {
      failure = { kind: "status", ...refusal, headers: new Headers() };
      return;
    }
    const checked = checkOptions(schema, piece);
    if (checked.problem === null) pieces.take(checked.value, afterMs);
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
      // Half an event is no garbled one: what follows is missing.
      if (rest !== null && (rest.data === "[DONE]" || parsed(rest.data) !== undefined))
        take(rest, 0);
      if (failure !== null || isDone || pieces.isOver()) return failure;
      return { kind: "cut", detail: "the stream ended before its end" };
    },
    reply: (totalMs) => pieces.reply(totalMs),
  };
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
