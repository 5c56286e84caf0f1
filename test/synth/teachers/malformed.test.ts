import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { hermes } from "../../../src/env/protocols/hermes.ts";
import { searchR1 } from "../../../src/env/protocols/search-r1.ts";
import { malformedSchema, writeWithSlips } from "../../../src/synth/teachers/malformed.ts";

const message = {
  thought: "I must look it up",
  action: { tool: "search", input: "mayor of Oslo" },
};
const protocol = searchR1.create({});
const written = (shares: object, seed = 1): string =>
  writeWithSlips(message, malformedSchema.parse(shares), { protocol, tools: [] }, random(seed));

describe("a message with broken tags", () => {
  it.each([
    ["unclosed", "<think> I must look it up</think><search> mayor of Oslo"],
    ["order", "<think> I must look it up</think></search> mayor of Oslo<search>"],
    ["none", " I must look it up mayor of Oslo"],
  ])("has no action that can be read when %s", (kind, text) => {
    expect(written({ [kind]: 1 })).toBe(text);
    expect(protocol.parse(text).actions).toEqual([]);
  });

  it("has a call that is no JSON when torn", () => {
    const calls = hermes.create({});
    const draw = random(1);
    const torn = malformedSchema.parse({ torn: 1 });
    const text = writeWithSlips(message, torn, { protocol: calls, tools: [] }, draw);
    expect(text).toMatch(/"mayor of Oslo"\}<\/tool_call>$/);
    expect(calls.parse(text).problems).toMatchObject([{ code: "bad-call" }]);
  });

  it("keeps its action when text stands outside the tags", () => {
    const text = "<think> I must look it up</think> So<search> mayor of Oslo</search>";
    expect(written({ textOutside: 1 })).toBe(text);
    expect(protocol.parse(text).actions).toEqual([message.action]);
  });

  it("is as frequent as its shares say", () => {
    const whole = protocol.write(message, []);
    const all = Array.from({ length: 400 }, (_, seed) =>
      written({ unclosed: 0.2, none: 0.2 }, seed),
    );
    const share = all.filter((text) => text !== whole).length / all.length;
    expect(Math.abs(share - 0.4)).toBeLessThan(0.08);
    expect(malformedSchema.safeParse({ unclosed: 0.6, none: 0.6 }).success).toBe(false);
  });
});
