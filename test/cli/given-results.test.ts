import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeReproduceCommand } from "../../src/cli/commands/reproduce.ts";
import type { KeptResults } from "../../src/experiment/claims/kept-results.ts";
import { madeEvaluations } from "../helpers/given-evaluations.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const command = makeReproduceCommand(() => Promise.reject(new Error("nothing may run")));
const made = await madeEvaluations(folder);

/** By set: .5, .6, .4, .3, .2, .1, .35; the average of the seven is 2.45 / 7 = .35. */
const SEARCH = [0.5, 0.6, 0.4, 0.3, 0.2, 0.1, 0.35];
const plus = (ems: readonly number[], more: number): number[] => ems.map((em) => em + more);

/** @param entries of the file. */
async function reproduce(entries: readonly string[], ...args: string[]) {
  const file = join(folder, "given.yaml");
  writeFileSync(file, entries.map((entry) => `- ${entry}\n`).join(""));
  const out = join(folder, "out");
  const all = ["reproduce", "search-r1", "--tier", "paper", "--from", file, "--out", out, ...args];
  const run = await runCommand(command, all, `${folder}/`);
  const results = (): KeptResults =>
    JSON.parse(readFileSync(join(out, "results.json"), "utf8")) as KeptResults;
  return { ...run, results };
}

const entry = (arm: string, seed: number | string, runs: string): string =>
  `{ arm: ${arm}, seed: ${seed}, runs: ${runs} }`;

for (const seed of [1, 2, 3]) {
  // Averages .35, .36, .37 against .27, .275, .295: differences .08, .085, .075.
  made(`search-${seed}`, "search", plus(SEARCH, (seed - 1) / 100));
  made(`none-${seed}`, "no-search", plus(SEARCH, [-0.08, -0.075, -0.055][seed - 1]!));
}
const WHOLE = [1, 2, 3].flatMap((seed) => [
  entry("search", seed, `search-${seed}`),
  entry("no-search", seed, `none-${seed}`),
]);

describe("agentrl reproduce --from", () => {
  it("judges a claim by the mean of the tier's sets, and trains nothing", async () => {
    const { status, stderr, stdout, results } = await reproduce(WHOLE);
    expect([status, stderr.split("\n")[0]]).toEqual([0, "written to out/results.json"]);
    const { claims, runs, seeds } = results();
    expect(seeds).toEqual([1, 2, 3]);
    const [wins, rag, masking] = claims;
    expect(wins).toMatchObject({ metric: "eval.average.em", verdict: "supported" });
    const [search, none] = wins!.arms;
    expect(search!.values.map((each) => each.toFixed(4))).toEqual(["0.3500", "0.3600", "0.3700"]);
    expect(none!.values.map((each) => each.toFixed(4))).toEqual(["0.2700", "0.2750", "0.2950"]);
    // Differences .08, .085, .075: mean .08, deviation .005, error .005 / √3 with 2 degrees: ± 4.3027 · .0028868.
    const [compared] = wins!.comparisons;
    expect(compared!.difference).toBeCloseTo(0.08, 12);
    expect(compared!.ci95!.map((end) => end.toFixed(4))).toEqual(["0.0676", "0.0924"]);
    expect(compared!.over).toBe("seeds");
    // Arms of equal settings are one run: `masked` has that of `search`.
    expect([rag!.verdict, rag!.instrument]).toEqual(["not given", "no results of rag"]);
    expect(masking).toMatchObject({ verdict: "not given", instrument: "no results of unmasked" });
    expect(masking!.arms.map(({ name }) => name)).toEqual(["masked"]);
    expect(runs[0]!.origin).toMatchObject({ machine: {}, given: { length: 7 } });
    expect(runs[0]!.origin.given![0]).toMatchObject({
      dataset: "bamboogle:test",
      policy: "models/search-1",
    });
    expect(stdout).toMatch(/search-beats-static-rag +NOT GIVEN +no results of rag/);
    expect(stdout).toContain("6 runs trained elsewhere: the evaluations are given");
    expect(stdout).toContain("The number of seeds is that of the given runs.");
    expect(existsSync(join(folder, "out", "runs"))).toBe(false);
    expect(readFileSync(join(folder, "out", "report.md"), "utf8")).toContain("trained elsewhere");
  });

  it("has no value where a set is missing, and says which", async () => {
    made("six", "search", [...SEARCH.slice(0, 5), null, 0.35]);
    const { status, results, stdout } = await reproduce([
      entry("search", 1, "six"),
      entry("no-search", "[1, 2]", "none-1"),
    ]);
    expect(status).toBe(0);
    const [wins] = results().claims;
    const lacks = "search, seed 1: eval.average.em needs musique:dev";
    expect(wins).toMatchObject({ verdict: "missing", instrument: lacks, comparisons: [] });
    // What can be computed stays: the arm without searches, for both of its seeds.
    expect(wins!.arms.map(({ name, seeds }) => [name, seeds])).toEqual([["no-search", [1, 2]]]);
    expect(stdout).toContain("MISSING");
  });

  it("takes lists of folders and compares the seeds that both arms have", async () => {
    const list =
      "[search-2/nq, search-2/triviaqa, search-2/popqa, search-2/hotpotqa, search-2/wikimultihop, search-2/musique, search-2/bamboogle]";
    const { results } = await reproduce([
      entry("search-beats-no-search/search", 2, list),
      entry("search", 5, "search-3"),
      entry("no-search", 2, "none-2"),
    ]);
    const [wins] = results().claims;
    expect(wins!.arms.map(({ seeds }) => seeds)).toEqual([[2], [2]]);
    expect(wins).toMatchObject({ verdict: "undecided", comparisons: [{ ci95: null }] });
  });

  it("refuses evaluations of another protocol, dataset or policy, naming what differs", async () => {
    const refused = async (...entries: string[]): Promise<string> => {
      const { status, stderr } = await reproduce(entries);
      expect(status).toBe(2);
      return stderr;
    };
    // A searching policy in the place of one that does not search.
    expect(await refused(entry("no-search", 1, "search-1"))).toMatch(
      /given\.yaml:1: search-1\/\w+ was measured otherwise than arm "no-search".*\n(.*\n)*.*≠.*\n(.*\n)*.*\[COMPARE_UNLIKE\]/,
    );
    made("greedy", "search", [0.5], { samplesPerTask: 4, errors: { n: 2, byCode: {} } });
    expect(await refused(entry("search", 1, "greedy"))).toContain(
      "its value comes first.\n  failed draws: 2, not measured ≠ 0\n  samples: 4 ≠ 1\n",
    );
    made("other", "search", [0.5], { dataset: "webq:test" });
    expect(await refused(entry("search", 1, "other"))).toContain(
      "dataset: webq:test ≠ nq:test or triviaqa:test or",
    );
    expect(await refused(entry("search", 1, "[search-1/nq, search-2/popqa]"))).toContain(
      "policy: models/search-2 ≠ models/search-1",
    );
    expect(await refused(entry("search", 1, "[search-1, search-2/nq]"))).toMatch(
      /are both of nq:test.*\[RESULTS_TWICE\]/,
    );
  });

  it("refuses unknown arms, double seeds, other tiers and flags of a training", async () => {
    const failed = async (entries: readonly string[], ...args: string[]): Promise<string> =>
      (await reproduce(entries, ...args)).stderr;
    expect(await failed([entry("serch", 1, "search-1")])).toMatch(
      /given\.yaml:1: arm is "serch"; no claim has such an arm\. Did you mean "search"/,
    );
    const twice = [entry("search", 1, "search-1"), entry("masked", "[3, 1]", "search-2")];
    expect(await failed(twice)).toMatch(
      /yaml:2: arm "masked" .* with seed 1 is given twice, first in .*yaml:1.*\[RESULTS_TWICE\]/,
    );
    expect(await failed(["{ arm: search, seed: 1 }"])).toMatch(/given\.yaml:1: 0\.runs .*\[/);
    expect(await failed([entry("search", 1, "none-9")])).toContain("[FILE_MISSING]");
    expect(await failed(WHOLE, "--seeds", "3")).toMatch(/--seeds would have no effect/);
    const mini = ["reproduce", "search-r1", "--from", join(folder, "given.yaml")];
    const { stderr } = await runCommand(command, mini);
    expect(stderr).toContain("Add --tier paper. [USAGE]");
  });
});
