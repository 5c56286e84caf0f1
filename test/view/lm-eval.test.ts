import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/files.ts";
import { writeLmEval } from "../../src/view/lm-eval.ts";
import { openResults } from "../../src/view/results-files.ts";
import { writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const time = new Date("2026-01-02T03:04:05.678Z");
const question = "Where?";

async function exported(
  name: string,
  ...given: Parameters<typeof writeResults> extends [string, ...infer R] ? R : never
) {
  const [files] = await openResults([writeResults(join(folder, name), ...given)]);
  const out = join(folder, `${name}-out`);
  const paths = await writeLmEval(out, files!, { time, decode: null, version: "9.9.9" });
  const [summary = "", samples = ""] = paths.map((path) => readFileSync(path, "utf8"));
  return {
    paths: paths.map((path) => relative(out, path)),
    summary: JSON.parse(summary) as Record<string, Record<string, Record<string, unknown>>>,
    samples: samples
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe("lm-evaluation-harness's layout", () => {
  it("has its names, scores with standard errors, and a sample per question", async () => {
    const rows = [1, 0, 0, 1].map((em, i) => ({ id: `q${i}`, question, em }));
    const { paths, summary, samples } = await exported("plain", rows);
    expect(paths).toEqual([
      "made__policy/results_2026-01-02T03-04-05.678.json",
      "made__policy/samples_made_2026-01-02T03-04-05.678.jsonl",
    ]);
    // Values 1, 0, 0, 1: sample deviation √(1/3), over √4.
    expect(summary["results"]!["made"]).toMatchObject({ alias: "made", "em,none": 0.5 });
    expect(summary["results"]!["made"]!["em_stderr,none"]).toBeCloseTo(Math.sqrt(1 / 12), 12);
    expect(summary["n-samples"]).toEqual({ made: { original: 4, effective: 4 } });
    expect(samples[0]).toMatchObject({
      doc_id: 0,
      target: "Paris",
      filter: "none",
      filtered_resps: ["Paris"],
      em: 1,
      arguments: { gen_args_0: { arg_0: "Question: Where?\n", arg_1: "{}" } },
      resps: [["<think>I look it up</think><search>capital</search>\n<answer>Paris</answer>"]],
      target_hash: sha256("Paris"),
      prompt_hash: sha256("Question: Where?\n"),
    });
    const hashes = samples.map(
      (own) =>
        `${String(own["doc_hash"])}${String(own["prompt_hash"])}${String(own["target_hash"])}`,
    );
    expect(summary["task_hashes"]).toEqual({ made: sha256(hashes.join("")) });
  });

  it("stays in its folder, whatever the policy is called", async () => {
    for (const [i, from] of ["..", ".", "", "../..", "/"].entries()) {
      const rows = [{ id: "a", question, em: 1 }];
      const { paths } = await exported(`named-${i}`, rows, { results: { policy: { from } } });
      expect(paths.map((path) => path.split(sep).length)).toEqual([2, 2]);
      expect(paths[0]).not.toMatch(/^\.{1,2}[\\/]/);
    }
  });

  it("holds every key that the harness writes", async () => {
    const { summary, samples } = await exported("keys", [{ id: "a", question, em: 1 }]);
    expect(Object.keys(summary)).toEqual(
      expect.arrayContaining(
        (
          "results groups group_subtasks configs versions n-shot higher_is_better n-samples config git_hash date pretty_env_info " +
          "task_hashes model_source model_name model_name_sanitized system_instruction system_instruction_sha chat_template " +
          "chat_template_sha start_time end_time total_evaluation_time_seconds"
        ).split(" "),
      ),
    );
    expect(Object.keys(samples[0]!)).toEqual(
      expect.arrayContaining(
        "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash em".split(
          " ",
        ),
      ),
    );
  });

  it("puts the draws of a question into one sample, whatever stands between them; a failed draw is not counted", async () => {
    const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "late" };
    const rows = [
      { id: "a", sample: 1, question, em: 0, answer: "Rome" },
      { id: "b", sample: 0, question, em: 1 },
      { id: "a", sample: 0, question, em: 1 },
      { id: "b", sample: 1, question, em: 0, answer: null, error },
    ];
    const { samples } = await exported("draws", rows, { results: { samplesPerTask: 2 } });
    expect(
      samples.map(({ doc_id, em, filtered_resps }) => ({ doc_id, em, filtered_resps })),
    ).toEqual([
      { doc_id: 0, em: 0.5, filtered_resps: ["Paris", "Rome"] },
      { doc_id: 1, em: 1, filtered_resps: ["Paris", ""] },
    ]);
  });
});
