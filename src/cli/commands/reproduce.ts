import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { InvalidArgumentError } from "commander";
import { DataError } from "../../base/errors.ts";
import { makeFolder, writeJson } from "../../base/files.ts";
import type { ArmRun } from "../../experiment/arms/arm-runs.ts";
import type { FoundIn } from "../../experiment/arms/finished-arms.ts";
import type { Reproduction } from "../../experiment/claims/claim-results.ts";
import { type KeptResults, readKeptResults } from "../../experiment/claims/kept-results.ts";
import { fixedSeeds, SEEDS_BY_RULE } from "../../experiment/claims/looks.ts";
import { keptResultsFile, loadRecipe, selectTier } from "../../run/settings/recipe-file.ts";
import { type Override, parseSet } from "../../run/settings/settings.ts";
import { reproductionDocument } from "../../view/documents/reproduction.ts";
import { documentBlocks } from "../../view/terminal.ts";
import { type ArmTraining, openArmProgress, trainArm } from "../arm-training.ts";
import { claimWriting } from "../claim-output.ts";
import { type CliCommand, type CliContext, defineCommand } from "../command.ts";
import type { Measured } from "../given-results.ts";
import { madeBy } from "../made-by.ts";
import { notePaper } from "../paper-notes.ts";
import { watchDownload } from "../model-download.ts";
import {
  type Flags,
  jsonFlag,
  options,
  outFlag,
  pluginFlag,
  refuseStray,
  setFlag,
  tierFlag,
  wholeNumber,
} from "../options.ts";
import { usage } from "../usage.ts";

/** Makes the results of one run of an arm; claims name its numbers by dotted paths. */
export type RunArm = (run: ArmRun, use: ArmTraining) => Promise<unknown>;

/** Most runs at once: they share one thread of JavaScript, which rolls out and searches. */
const MOST_AT_ONCE = 4;

/**
 * Runs on one core each, side by side, take less time than runs on all cores one after the other (docs/lab-log.md), and come to the same
 * results on every machine. The published settings take all that there is.
 */
const ONE_CORE: readonly Override[] = ["engine.workers", "engine.threads"].map((key) => ({
  key,
  value: 1,
  origin: "reproduce",
}));

const OPTIONS = options({
  tier: tierFlag(),
  seeds: [
    "<n>",
    "runs per arm, or comma-separated seeds, e.g. 4,5,6 (default: 3, then 5 and 8 while a claim is undecided; docs/claims.md); a fixed number is an exploration, which the atlas leaves out",
    seedList,
  ],
  set: setFlag(),
  plugin: pluginFlag(),
  arms: [
    "<folder>",
    "finished arms of all reproductions: those of equal settings, version and files are reused (default: agentrl/arms in the user's cache)",
  ],
  from: [
    "<file.yaml>",
    'take results that were trained elsewhere instead of training, with --tier paper: a list of "{ arm: NAME, seed: 1, runs: FOLDER }", FOLDER from `agentrl eval --out` (docs/claims.md)',
  ],
  out: outFlag("folder of the results; runs/reproduce-<recipe>-<tier> when absent"),
  keep: ["", "write the results to results/<recipe>.json beside the recipe, for --all"],
  all: ["", "all shipped recipes that have claims, and a page of them all"],
  family: ["<name>", "with --all: only recipes of this family, e.g. search-agents"],
  stored: ["", "show the kept results of the package; nothing runs"],
  stale: ["", "list which kept results were measured by other code; nothing runs"],
  spot: ["", "run one arm of the kept results again and compare its numbers"],
  page: ["<file>", "with --all: the page, with a .md beside it (default: runs/atlas.html)"],
  json: jsonFlag(),
  noArms: ["", "run every arm again, also those of kept results, and keep none for reuse"],
});

type ReproduceFlags = Flags<typeof OPTIONS>;

/** `agentrl reproduce`: a recipe's claims, run over seeds, beside the paper's numbers. */
export function makeReproduceCommand(runArm: RunArm): CliCommand {
  return defineCommand({
    name: "reproduce",
    description:
      "Run every arm of a recipe's claims with several seeds and say whether each claim is supported, reversed, ruled out or " +
      "undecided. The folder gets results.json, a page (report.html) and its text (report.md). The same command resumes an " +
      "interrupted reproduction. With --all: every shipped recipe with claims, as one page (the atlas); recipes with kept results " +
      "are not measured again.",
    args: [["[recipe]", "name of a shipped recipe, or a path"]],
    options: OPTIONS,
    async run(flags, context, recipe) {
      checkFlags(recipe, flags);
      if (flags.stale === true || flags.spot === true) {
        const { showSpots, showStale } = await import("../kept-checks.ts");
        const json = flags.json === true;
        if (flags.stale === true) return showStale(recipe, json, context);
        const out = flags.out ?? join("runs", "spot");
        const again: Parameters<typeof showSpots>[2] = (each, use) =>
          runArm(each, { ...use, onProgress: () => undefined });
        return showSpots(recipe, { json, out }, again, ONE_CORE, context);
      }
      const measure = (name: string) =>
        flags.from === undefined
          ? reproduceRecipe(name, flags, runArm, context)
          : import("../given-results.ts").then(({ judgeGiven }) =>
              judgeGiven(name, { ...flags, from: flags.from ?? "" }, context),
            );
      if (recipe === undefined) {
        const { writeAtlas } = await import("../atlas.ts");
        await writeAtlas(flags, measure, context);
      } else if (flags.stored === true) await printStored(recipe, flags, context);
      else await printReproduction(recipe, flags, measure, context);
    },
  });
}

/** Trains the recipe on this machine; the result is one run. */
export const reproduceCommand = makeReproduceCommand(trainArm);

/** @throws {ConfigError} USAGE where flags of one recipe and of all are mixed. */
function checkFlags(recipe: string | undefined, flags: ReproduceFlags): void {
  const [needsAll] = (["family", "page"] as const).filter((key) => flags[key] !== undefined);
  if (recipe === undefined && flags.all === undefined)
    throw usage("A recipe is missing. Name one, or give --all.");
  if (recipe !== undefined && flags.all === true)
    throw usage(`--all stands beside the recipe ${recipe}. Give one of them.`);
  if (flags.from !== undefined) {
    const others = ["all", "stored", "stale", "spot", "keep", "seeds", "set", "arms"];
    refuseStray(flags, others, "a reproduction that trains here, and --from trains nothing");
    if (flags.tier !== "paper")
      throw usage("--from takes results of the published settings. Add --tier paper.");
  }
  if (recipe !== undefined && needsAll !== undefined)
    throw usage(`--${needsAll} has no effect on one recipe. Give --all instead.`);
  if (flags.all === true && flags.out !== undefined)
    throw usage("--out is the folder of one recipe. With --all, give --page.");
}

/** @throws {DataError} FILE_MISSING without kept results. */
async function printStored(
  name: string,
  { json, ...flags }: ReproduceFlags,
  context: CliContext,
): Promise<void> {
  refuseStray(
    flags,
    ["seeds", "set", "out", "keep"],
    "a reproduction that runs, and --stored runs nothing",
  );
  const file = keptResultsFile(name);
  const kept = existsSync(file) ? await readKeptResults(file) : null;
  if (kept === null || (flags.tier ?? kept.tier) !== kept.tier) {
    const found = kept === null ? "no kept results" : `kept results of tier ${kept.tier} alone`;
    throw new DataError(
      "FILE_MISSING",
      `${file}: ${name} has ${found}. Measure it: ${context.call} reproduce ${name}.`,
    );
  }
  if (json === true) context.out(JSON.stringify(kept));
  else context.out(documentBlocks(await reproductionDocument(kept, [])));
}

async function printReproduction(
  recipe: string,
  flags: ReproduceFlags,
  measure: (name: string) => Promise<Measured>,
  context: CliContext,
): Promise<void> {
  const { result, out, files } = await measure(recipe);
  if (flags.json === true) context.out(JSON.stringify({ ...result, out }));
  else context.out(documentBlocks(await reproductionDocument(result, [])));
  for (const file of files) context.note(`written to ${file}`);
}

async function reproduceRecipe(
  name: string,
  flags: ReproduceFlags,
  runArm: RunArm,
  context: CliContext,
): Promise<Measured> {
  const { reproduce } = await import("../../experiment/reproduce.ts");
  const { armFolder } = await import("../../experiment/arms/arm-runs.ts");
  const { openArmStore, sharedArms } = await import("../../experiment/arms/arm-store.ts");
  const { armQuestions } = await import("../../experiment/arm-questions.ts");
  const { codeHash, commitHere } = await import("../../experiment/code-hash.ts");
  const recipe = await loadRecipe(name, flags.plugin);
  const tier = selectTier(recipe, flags.tier);
  const out = flags.out ?? join("runs", `reproduce-${recipe.name}-${tier}`);
  claimWriting(out);
  if (flags.keep === true) claimWriting(keptResultsFile(name));
  const store =
    flags.arms === false
      ? null
      : openArmStore(typeof flags.arms === "string" ? flags.arms : sharedArms(), context.note);
  const file = keptResultsFile(name);
  const isReused = flags.arms !== false && existsSync(file);
  const before = isReused ? await readKeptResults(file) : null;
  const { writeReproductionFiles } = await import("../reproduction-files.ts");
  const folderOf = (each: Pick<ArmRun, "arms" | "seed" | "key">): string => armFolder(out, each);
  const written = async (found: Reproduction): Promise<KeptResults> => {
    const results = await writeReproductionFiles(found, folderOf, { out, before });
    if (flags.keep === true) {
      await makeFolder(dirname(file));
      await writeJson(file, results);
    }
    return results;
  };
  const progress = openArmProgress(context);
  const download = watchDownload(context);
  const isPaper = tier === "paper";
  await notePaper({ recipe, tier }, context);
  const result = await reproduce(recipe, {
    tier,
    out,
    made: { ...madeBy(), code: await codeHash(), commit: await commitHere() },
    kept: before,
    signal: context.signal,
    store,
    download: download.options,
    plan: flags.seeds === undefined ? SEEDS_BY_RULE : fixedSeeds(flags.seeds),
    overrides: [...(isPaper ? [] : ONE_CORE), ...(flags.set ?? []).map(parseSet)],
    sideBySide: isPaper ? 1 : Math.min(availableParallelism(), MOST_AT_ONCE),
    run: async (each, use) => {
      const onProgress = (text: string): void => {
        progress.update(each, text);
      };
      const found = await runArm(each, { ...use, onProgress });
      progress.end(each);
      return found;
    },
    onLook: async (found) => {
      await written(found);
    },
    questionsOf: (each, metric) => armQuestions(folderOf(each), metric),
    onArm: ({ run: each, number, total, found }) => {
      const what = `${each.arms.join(", ")}, seed ${each.seed}`;
      context.note(`run ${number}/${total}: ${what}${found === null ? "" : FOUND[found]}`);
      if (found === null) progress.begin(each, total);
      else progress.end(each);
    },
  }).finally(() => {
    download.stop();
    progress.stop();
  });
  const kept = await written(result);
  const files = ["results.json", "report.html", "report.md"].map((each) => join(out, each));
  if (flags.keep === true) files.push(file);
  return { result, kept, out, files };
}

/** @example seedList("3") // [1, 2, 3]; seedList("4,7") // [4, 7] */
function seedList(text: string): number[] {
  if (!text.includes(","))
    return Array.from({ length: wholeNumber(1, 1000)(text) }, (_, i) => i + 1);
  const seeds = text.split(",").map((each) => wholeNumber(0)(each.trim()));
  if (new Set(seeds).size === seeds.length) return seeds;
  throw new InvalidArgumentError("It names a seed twice.");
}

/** What is said of a run that is not made. */
const FOUND: Record<FoundIn, string> = {
  folder: " (done before)",
  store: " (reused)",
  results: " (in the kept results)",
};
