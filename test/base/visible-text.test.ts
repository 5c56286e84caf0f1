import { describe, expect, it } from "vitest";
import { visibleLine, visibleText } from "../../src/base/visible-text.ts";

describe("visibleText", () => {
  it.each([
    ["escape sequences, colours too", "\u001b[31mred\u001b[8m", "\\u001b[31mred\\u001b[8m"],
    ["title and clipboard", "\u001b]52;c;aGk=\u0007", "\\u001b]52;c;aGk=\\u0007"],
    ["C1, DEL, NEL", "\u009b31m\u007f\u0085", "\\u009b31m\\u007f\\u0085"],
    ["a return that overwrites the line", "good\rbad", "good\\u000dbad"],
    ["backspace, form feed, NUL", "\b\f\0", "\\u0008\\u000c\\u0000"],
    ["bidirectional controls", "\u202ea\u2066b\u200f\u061c", "\\u202ea\\u2066b\\u200f\\u061c"],
    ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["invisible characters", "pay\u200b\u200d\u2060\ufeffpal\u00ad", "pay\\u200b\\u200d\\u2060\\ufeffpal\\u00ad"], // prettier-ignore
    ["variation selectors on letters", "a\ufe0fb", "a\\ufe0fb"],
    ["more than one variation selector", "❤\ufe0f\ufe01", "❤\ufe0f\\ufe01"],
    ["tag characters", "\u{e0041}", "\\udb40\\udc41"],
  ])("shows %s", (_, text, shown) => {
    expect(visibleText(text)).toBe(shown);
    expect(visibleText(shown)).toBe(shown);
  });

  it.each([
    ["line ends and tabs", "a\nb\r\nc\td"],
    ["emoji of several parts", "👨‍👩‍👧 ❤️ 1️⃣ 👩🏽‍🚀"],
    ["joiners that Persian and Indic words need", "می‌خواهم क्‍ष"],
    ["variants of Han", "葛\u{e0100}"],
    ["letters of all writings", "é Ω ж שלום 日本 한국 \u00a0"],
  ])("leaves %s", (_, text) => {
    expect(visibleText(text)).toBe(text);
  });

  it("keeps the value of JSON", () => {
    const value = { "k\u202e": ["\\\u009b", "\u001b\u007f\u2028\u{e0041}\u200b", "\n\t\r"] };
    const text = visibleText(JSON.stringify(value, null, 2));
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  });
});

describe("visibleLine", () => {
  it("shows line ends and tabs too", () => {
    expect(visibleLine("a\r\nb\tc\u001b")).toBe("a\\r\\nb\\tc\\u001b");
  });
});
