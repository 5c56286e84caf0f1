import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import type { AnalyzerAdvice } from "../../../src/text/suggest-analyzer.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const of = (...texts: string[]) => texts.map((text, i) => ({ id: String(i), title: "", text }));
const CHINESE = of("東京は日本の首都である。", "京都は古い都である。");

describe("an index whose analyzer does not fit", () => {
  const advised = async (texts: ReturnType<typeof of>, analyzer?: string) => {
    const found: AnalyzerAdvice[] = [];
    const out = join(folder, `index-${String(Math.abs(texts.length))}-${analyzer ?? ""}`);
    await buildIndex(texts, out, {
      overwrite: true,
      threads: 0,
      onAdvice: (advice) => found.push(advice),
      analyzer,
    });
    return found;
  };

  it("is built with the advice of another, and without advice where it fits", async () => {
    expect(await advised(CHINESE)).toEqual([
      { analyzer: "cjk", found: "most letters are Chinese, Japanese or Korean" },
    ]);
    expect(await advised(CHINESE, "cjk")).toEqual([]);
    const english = of("Oslo is the capital of Norway, and its river is the Akerselva. ".repeat(4));
    expect(await advised(english)).toEqual([]);
  });

  it("is refused in memory, where nobody would see advice", () => {
    expect(() => buildBm25(CHINESE)).toThrow(
      errorWith(
        "ANALYZER_UNFIT",
        /retriever\.analyzer is "english".*Set retriever\.analyzer to cjk/,
      ),
    );
    expect(() => buildBm25(CHINESE, { analyzer: "cjk" })).not.toThrow();
  });

  it("is refused where it finds no term at all, and nothing is left behind", async () => {
    const out = join(folder, "stop-words");
    const stop = of("the of and", "to be, or not");
    await expect(buildIndex(stop, out, { threads: 0, source: "stop.jsonl" })).rejects.toThrow(
      errorWith(
        "CORPUS_WITHOUT_TERMS",
        /stop\.jsonl: the analyzer "english" finds no term in any of 2 passages/,
      ),
    );
    expect(existsSync(out)).toBe(false);
    expect(() => buildBm25(of("", " "))).toThrow(errorWith("CORPUS_WITHOUT_TERMS"));
  });
});
