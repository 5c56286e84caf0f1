import { describe, expect, it } from "vitest";
import { eventParser, type ServerEvent } from "../../src/http/event-stream.ts";

/** Every event of a stream that arrives in these parts. */
function eventsOf(...parts: Uint8Array[]): ServerEvent[] {
  const parser = eventParser();
  const events = parts.flatMap((part) => parser.push(part));
  const rest = parser.rest();
  return rest === null ? events : [...events, rest];
}

const bytes = (text: string): Buffer => Buffer.from(text, "utf8");
const data = (...all: string[]): ServerEvent[] => all.map((each) => ({ name: "", data: each }));

describe("a parser of server-sent events", () => {
  it("gives the same events wherever the bytes are cut, once or at every byte", () => {
    const stream = bytes(
      '\uFEFF: ping\n\ndata: {"a":"Ærø — 東京 🙂"}\r\n\r\nid: 7\rdata:two\rdata: lines\r\r: more\nevent: error\ndata: x\n\ndata: [DONE]\n\n',
    );
    const expected = [
      ...data('{"a":"Ærø — 東京 🙂"}', "two\nlines"),
      { name: "error", data: "x" },
      ...data("[DONE]"),
    ];
    expect(eventsOf(stream)).toEqual(expected);
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(eventsOf(stream.subarray(0, cut), stream.subarray(cut))).toEqual(expected);
    }
    expect(eventsOf(...Array.from(stream, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it("drops one blank after the colon and no more", () => {
    expect(eventsOf(bytes("data:a\n\ndata:  b\n\ndata\n\n"))).toEqual(data("a", " b", ""));
  });

  it("gives an event whose blank line never came when asked for the rest", () => {
    const parser = eventParser();
    expect(parser.push(bytes("data: [DONE]"))).toEqual([]);
    expect(parser.rest()).toEqual({ name: "", data: "[DONE]" });
    expect(parser.rest()).toBeNull();
  });

  it("takes an error that stands in a field of its own", () => {
    expect(eventsOf(bytes('error: {"code":500}\n\n'))).toEqual([
      { name: "error", data: '{"code":500}' },
    ]);
  });

  it("gives nothing for comments and fields that it does not know", () => {
    expect(eventsOf(bytes(": a\nretry: 5\nwhat: ever\n\n\n\n"))).toEqual([]);
  });
});
