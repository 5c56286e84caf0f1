import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resultsMarkdown } from "../helpers/report-page.ts";
import { writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
// Wilson: 2 of 2 right is [0.3424, 1], 0 of 2 [0, 0.6576]; a bootstrap of equal values has no width.
const rows = [1, 1, 0, 0].map((em, i) => ({
  id: `q${i}`,
  question: "Where?",
  em,
  hops: 1 + Math.floor(i / 2),
}));
const values = (em: number): object => ({ n: 2, metrics: { em, f1: em, cover_em: em } });
const groups = { hops: { "1-hop": values(1), "2-hop": values(0) }, type: {} };

describe("results as Markdown", () => {
  it("gives each group's numbers with intervals computed from the rows where the results have none", async () => {
    const place = writeResults(join(folder, "a"), rows, { results: { groups } });
    const text = await resultsMarkdown([place]);
    expect(text).toContain("policy made/policy · strategy agent · 4 questions");
    expect(text).toMatch(/^\| all \| 4 \| 0\.500 \| 0\.100 … 0\.900 \| .* \| 1\.000 \| 1\.00 \|$/m);
    expect(text).toMatch(/^\| 1-hop \| 2 \| 1\.000 \| 0\.342 … 1\.000 \| .* \| – \| – \|$/m);
    expect(text).toMatch(/^\| 2-hop \| 2 \| 0\.000 \| 0\.000 … 0\.658 \| /m);
  });

  it("never puts unlike protocols into one table, and says in what they differ", async () => {
    const places = ["b", "c"].map((name, i) =>
      writeResults(join(folder, name), rows, {
        results: {
          fingerprint: i === 0 ? "aaaaaaaaaaaa" : "bbbbbbbbbbbb",
          protocol: { dataset: "made-1", topK: { a: 3 + i }, prompt: "a | b" },
        },
      }),
    );
    const text = await resultsMarkdown(places);
    expect(text).toContain("> **Not comparable. ");
    expect(text).toContain("| `topK.a` | 3 | 4 |");
    expect(text).not.toContain("`prompt`");
    expect(text.match(/^\| questions \| n \|/gm)).toHaveLength(2);
  });

  it("says loudly what failed and what read the gold, and keeps names from being markup", async () => {
    const place = writeResults(join(folder, "d"), rows, {
      results: {
        errors: { n: 3, byCode: { HTTP_TIMEOUT: 3 } },
        readsGold: true,
        policy: { from: "a|b*c" },
      },
    });
    const text = await resultsMarkdown([place]);
    expect(text).toContain("**3 draws failed: not measured");
    expect(text).toContain("a control, not a result");
    expect(text).toContain("policy a|b\\*c");
  });

  it("shows several policies on several datasets as a matrix, and compares only results of one dataset", async () => {
    const places = ["small", "large"].flatMap((model) =>
      ["nq", "own"].map((dataset) =>
        writeResults(join(folder, "matrix", model, dataset), rows, {
          results: {
            dataset,
            fingerprint: dataset,
            protocol: { dataset },
            policy: { from: "http://127.0.0.1:1/v1", model },
          },
        }),
      ),
    );
    const text = await resultsMarkdown(places);
    expect(text).not.toContain("Not comparable");
    expect(text).toContain(
      "| policy | nq EM | 95 % interval | nq F1 | own EM | 95 % interval | own F1 |",
    );
    expect(text).toContain("| small @ 127.0.0.1:1 | 0.500 | 0.100 … 0.900");
    expect(text.match(/^### .*$/gm)?.slice(0, 2)).toEqual(["### nq", "### own"]);
  });
});
