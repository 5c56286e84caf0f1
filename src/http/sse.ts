/** One event of a stream: its name where it has one, and its data, lines joined. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** Takes a stream's bytes, cut anywhere, and gives its events. */
export interface EventParser {
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
