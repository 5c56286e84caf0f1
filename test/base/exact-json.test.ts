import { describe, expect, it } from "vitest";
import { numberId, parseExact, WrittenNumber } from "../../src/base/exact-json.ts";

/** Written numbers as their texts. */
function texts(value: unknown): unknown {
  if (value instanceof WrittenNumber) return `#${value.text}`;
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, texts(item)]));
}

describe("parseExact", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "123456789012345678901234567890",
    ...["3.10", "0.30", "1.0", "-0", "-0.0", "1e3", "1E5", "1e400", "0.1234567890123456789"],
  ])("keeps the text of %s", (number) => {
    expect(texts(parseExact(`{"a":[${number}],"b": ${number} }`))).toEqual({
      a: [`#${number}`],
      b: `#${number}`,
    });
  });

  it("gives every other value as JSON.parse does", () => {
    for (const text of [
      '{"a":9007199254740991,"b":[0.5,-2,true,false,null,1e-7],"c\\"d":"1.0, 9007199254740993"}',
      '{"__proto__":{"x":1},"a\\\\":"\\":2.0"}',
      '[[],{},"",0]',
      '"e"',
    ])
      expect(parseExact(text)).toEqual(JSON.parse(text));
  });

  it("keeps a key named __proto__ beside such a number", () => {
    const value = parseExact('{"__proto__":{"x":2.0}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["__proto__"]);
  });

  it.each([
    ['{"a":{"b":1,"c":2,"b":3}}', 'the key "b" occurs twice'],
    ['{"a": "x", "a" : "y"}', 'the key "a" occurs twice'],
    ['{"a":"\\ud83d"}', "half of a character"],
    ['{"\\uDC00":1}', "half of a character"],
    ['{"a":NaN}', "NaN and Infinity are not JSON: write null"],
    ['{"a":-Infinity}', "NaN and Infinity are not JSON: write null"],
    [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, "nested too deeply"],
    ['{"a":007}', "JSON"],
  ])("refuses %.40s", (text, problem) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
    expect(() => parseExact(text)).toThrow(problem);
  });

  it("allows a key twice with one value, and a whole surrogate pair", () => {
    expect(parseExact('{"a":1,"a":1,"b":"\\ud83d\\ude00"}')).toEqual({ a: 1, b: "😀" });
  });
});

it("makes ids of whole numbers alike, however they are written", () => {
  const ids = (parseExact("[1, 1.0, 1e3, -0, 9007199254740993, 1.50]") as unknown[]).map(numberId);
  expect(ids).toEqual(["1", "1", "1000", "0", "9007199254740993", "1.50"]);
  expect(numberId("1")).toBeNull();
});
