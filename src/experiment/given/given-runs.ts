import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { datasetsWithin } from "../../data/dataset.ts";
import { shortHash } from "../../evaluate/fingerprint.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { type PaperFacts, paperFacts } from "../../run/checks/paper-tier.ts";
import { setsOf } from "../../run/evaluation-sets.ts";
import type { RecipeFile } from "../../run/settings/recipe-schema.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import { questionsIn } from "../arm-questions.ts";
import type { GivenEvaluation } from "../claims/run-origin.ts";
import type { MeasuredSet } from "../paper-table/measured-set.ts";
import { measuredBy, type PublishedSet } from "../paper-table/published-sets.ts";
import { policyOf, setDifferences } from "../paper-table/setup-differences.ts";
import { armNamed, type GivenArm } from "./given-arms.ts";
import type { GivenEntry } from "./given-file.ts";
import { type GivenSets, givenValue, type GivenValue } from "./given-metric.ts";

/** A run that was trained elsewhere. */
export interface GivenRun {
  /** Hash of its evaluations and its seed. */
  key: string;
  seed: number;
  arm: GivenArm;
  model: string;
  evaluations: GivenEvaluation[];
  valueOf(metric: string): Promise<GivenValue>;
}

/** Reads the evaluations in folders. */
export type SetReader = (folders: readonly string[]) => Promise<readonly MeasuredSet[]>;

/**
 * The runs of a file, one per arm and seed, each checked against the recipe's tier.
 * @throws {ConfigError} COMPARE_UNLIKE for an evaluation of another protocol; RESULTS_TWICE for two of one set or one seed; as `armNamed`.
 */
export async function givenRuns(
  recipe: RecipeFile,
  { entries, arms, readSets }: { entries: readonly GivenEntry[]; arms: readonly GivenArm[]; readSets: SetReader }, // prettier-ignore
): Promise<GivenRun[]> {
  const facts = await paperFacts(recipe);
  const runs: GivenRun[] = [];
  const known = new Map<string, string>();
  for (const entry of entries) {
    const { where, seeds } = entry;
    const arm = armNamed(entry, arms);
    for (const seed of seeds) {
      const name = `${arm.ids[0]} ${seed}`;
      const before = known.get(name);
      if (before !== undefined) {
        const message = `${where}: arm "${entry.arm}" (${arm.ids.join(", ")}) with seed ${seed} is given twice, first in ${before}. Each seed of an arm is one run: leave one out.`;
        throw new ConfigError("RESULTS_TWICE", message);
      }
      known.set(name, where);
    }
    const sets = placedSets(entry, await readSets(entry.runs), expectedSets(arm.settings, facts));
    const measured = [...sets.measured.values()];
    const hashes = await Promise.all(
      measured.map(({ folder }) => sha256File(join(folder, "results.json"))),
    );
    const questionsOf = (folder: string, metric: string) => {
      const rows = join(folder, "rows.jsonl");
      return existsSync(rows) ? questionsIn(rows, metric) : Promise.resolve(null);
    };
    for (const seed of seeds)
      runs.push({
        key: shortHash({ seed, hashes }),
        seed,
        arm,
        model: [...new Set(measured.map(({ policy }) => policyLabel(policy)))].join(", "),
        evaluations: measured.map(({ folder, dataset, policy, fingerprint }) => {
          return { folder, dataset, policy: policyLabel(policy), fingerprint };
        }),
        valueOf: (metric) => givenValue(metric, sets, questionsOf),
      });
  }
  return runs.sort((a, b) => a.seed - b.seed);
}

/** How an arm measures each of its sets; "" is its own evaluation. */
export function expectedSets(
  settings: Settings,
  facts: PaperFacts | null,
): Map<string, PublishedSet> {
  const all = [{ set: "", settings }, ...setsOf(settings)];
  return new Map(
    all.flatMap(({ set, settings: of }) => {
      const [dataset = of.evaluation.dataset] = datasetsWithin(of.evaluation.dataset);
      return [[set, measuredBy(of, dataset, facts)] as const];
    }),
  );
}

/** @throws {ConfigError} COMPARE_UNLIKE, RESULTS_TWICE */
function placedSets(
  { where, arm }: GivenEntry,
  sets: readonly MeasuredSet[],
  expected: ReadonlyMap<string, PublishedSet>,
): GivenSets {
  const measured = new Map<string, MeasuredSet>();
  for (const set of sets) {
    const named = [...expected].filter(([, { dataset }]) => dataset === set.dataset);
    const [first] = named;
    if (first === undefined) {
      const known = [...new Set([...expected.values()].map(({ dataset }) => dataset))];
      throw unlike(where, arm, set, [["dataset", set.dataset, known.join(" or ")]]);
    }
    // Sets of one dataset differ in another part.
    const [name, published] =
      named.find(([, each]) => setDifferences(set, each).length === 0) ?? first;
    const differences = setDifferences(set, published);
    if (differences.length > 0) throw unlike(where, arm, set, differences);
    const other = measured.get(name);
    if (other !== undefined) {
      const message = `${where}: ${other.folder} and ${set.folder} are both of ${set.dataset}, of which arm "${arm}" has one evaluation. Name the one that counts.`;
      throw new ConfigError("RESULTS_TWICE", message);
    }
    const [one] = measured.values();
    if (one !== undefined && policyOf(one) !== policyOf(set))
      throw unlike(where, arm, set, [["policy", policyOf(set), policyOf(one)]]);
    measured.set(name, set);
  }
  const datasets = [...expected].map(([name, { dataset }]) => [name, dataset] as const);
  return { expected: new Map(datasets), measured };
}

function unlike(
  where: string,
  arm: string,
  { folder }: MeasuredSet,
  differences: readonly (readonly [part: string, ours: string, theirs: string])[],
): ConfigError {
  const lines = differences.map(([part, ours, theirs]) => `\n  ${part}: ${ours} ≠ ${theirs}`);
  return new ConfigError(
    "COMPARE_UNLIKE",
    `${where}: ${folder} was measured otherwise than arm "${arm}" of tier paper; its value comes first.${lines.join("")}\nEvaluate again with \`agentrl eval --recipe … --tier paper\` and the arm's settings, or leave the folder out.`,
  );
}
