import { describe, expect, it } from "vitest";
import { hitsJson } from "../../src/server/retrieve-request.ts";

const hit = (title: string, text: string, score = 1.5) => ({ id: "7", title, text, score });

describe("hits as JSON", () => {
  it("writes what JSON.stringify would, contents made of title and text", () => {
    const found = hit('An "é" \u2028', "Line 1\n\tline 2 \\");
    const { id, title, text } = found;
    const document = { id, contents: `"${title}"\n${text}`, title, text };
    expect(hitsJson([found, found], false)).toBe(JSON.stringify([document, document]));
    expect(hitsJson([found], true)).toBe(JSON.stringify([{ document, score: 1.5 }]));
    expect(hitsJson([], true)).toBe("[]");
  });

  it("keeps the title on the first line of contents, where clients look for it", () => {
    const [document] = JSON.parse(hitsJson([hit("two\nlines", "x")], false)) as {
      contents: string;
      title: string;
    }[];
    expect(document).toMatchObject({ contents: '"two lines"\nx', title: "two\nlines" });
  });

  it("writes scores as floats", () => {
    const scores = [12, 0, -3, 0.1, 1e-7, 1e21].map((score) =>
      hitsJson([hit("", "", score)], true).replace(/.*"score":(.*)\}\]$/, "$1"),
    );
    expect(scores).toEqual(["12.0", "0.0", "-3.0", "0.1", "1e-7", "1e+21"]);
  });
});
