import { checkOptions, type z } from "../base/schema.ts";
import type { BodyReader, Failure } from "./exchange.ts";
import { refusalOf } from "./refusal.ts";

/** A reply that is put together from the events of a stream. */
export interface StreamedReply<T> extends BodyReader {
  /** Once it is complete. */
  reply(totalMs: number): T;
}

/** How the pieces of one kind of reply are put together. */
interface Pieces<C, T> {
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

/** One event of a stream: its name where it has one, and its data, lines joined. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** Takes a stream's bytes, cut anywhere, and gives its events. */
interface EventParser {
  push(bytes: Uint8Array): ServerEvent[];
  /** What the stream broke off in, as an event; null where it ended between two. */
  rest(): ServerEvent | null;
}

/**
 * A parser of server-sent events (text/event-stream).
 *
 * Source: WHATWG HTML, section 9.2.6. Different here: an event whose blank line never came is kept apart instead of dropped,
 * since some servers leave it out after the last; `error` as a field is an event of that name, as older llama.cpp writes it;
 * `id` and `retry` are passed over, since no stream is taken up again.
 */
export function eventParser(): EventParser {
  const decoder = new TextDecoder();
  let line = "";
  let name = "";
  let data: string[] = [];
  let afterReturn = false;

  const dispatched = (): ServerEvent[] => {
    const event = { name, data: data.join("\n") };
    const isEvent = data.length > 0;
    name = "";
    data = [];
    return isEvent ? [event] : [];
  };
  const takeLine = (): ServerEvent[] => {
    const text = line;
    line = "";
    if (text === "") return dispatched();
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "error") {
      name = "error";
      data.push(value);
    }
    return [];
  };
  return {
    push(bytes) {
      let text = decoder.decode(bytes, { stream: true });
      if (text === "") return [];
      // A line may end in \r, \n or both, and the two may come apart.
      if (afterReturn && text.startsWith("\n")) text = text.slice(1);
      afterReturn = text === "" ? false : text.endsWith("\r");
      const lines = text.split(/\r\n|\r|\n/);
      const last = lines.pop() ?? "";
      const events: ServerEvent[] = [];
      for (const part of lines) {
        line += part;
        events.push(...takeLine());
      }
      line += last;
      return events;
    },
    rest() {
      if (line !== "") takeLine();
      return dispatched()[0] ?? null;
    },
  };
}
