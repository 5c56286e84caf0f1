import { existsSync } from "node:fs";
import { join } from "node:path";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import type { Decode } from "../trajectory/trajectory.ts";
import type { ResultFiles } from "../view/results-files.ts";
import type { GoldOf } from "../view/run-figures.ts";
import type { ReadableResult } from "../view/viewer/evaluation-items.ts";
import { settingsOf } from "./recipe-options.ts";

/** Tokenizer and questions for a report. */
export interface ReadingFlags {
  /** Folder with a tokenizer.json. */
  tokenizer?: string;
  /** The questions, if the results do not lead to them. */
  dataset?: string;
}

/**
 * Finds the policy's tokenizer and the questions' gold passages for the trajectories of results. Neither is downloaded. Without them a
 * report shows less, and `note` gets a message.
 */
export async function readableResults(
  files: readonly ResultFiles[],
  flags: ReadingFlags,
  note: (text: string) => void,
): Promise<ReadableResult[]> {
  const readable: ReadableResult[] = [];
  for (const own of files) {
    const decode = await findDecode(own, flags.tokenizer);
    readable.push({ files: own, decode, goldOf: await findGold(own, flags.dataset, note) });
  }
  return readable;
}

/** @throws {DataError} FILE_MISSING, FILE_NOT_JSON, TOKENIZER_BAD for a tokenizer that was named. */
async function findDecode(
  { results }: ResultFiles,
  named: string | undefined,
): Promise<Decode | null> {
  const { loadTokenizer } = await import("../text/tokenizer.ts");
  const { folderOfName } = await import("../run/bases.ts");
  const { from = "" } = results.policy;
  const folder = named ?? (await folderOfName(from));
  if (named === undefined && !existsSync(join(folder, "tokenizer.json"))) return null;
  const tokenizer = await loadTokenizer(folder);
  return (ids) => tokenizer.decode(ids);
}

/** Gold of the evaluated questions: the dataset must have the fingerprint in the results. */
async function findGold(
  { name, results }: ResultFiles,
  named: string | undefined,
  note: (text: string) => void,
): Promise<GoldOf> {
  const { recipe, protocol } = results;
  const how = "Gold passages are not marked";
  const { shippedRecipes } = await import("../run/settings/recipe-file.ts");
  // The user's own recipe file is not found by its name, so its questions are unknown here.
  const isOwn = recipe !== undefined && !shippedRecipes().includes(recipe.name);
  if (isOwn && named === undefined) return () => null;
  try {
    const { evaluationDataset } = await import("../run/run-eval.ts");
    const { openNamedDataset } = await import("../run/assemble.ts");
    const flags =
      recipe === undefined || isOwn
        ? { recipe: "search-r1" }
        : { recipe: recipe.name, tier: recipe.tier };
    const { settings } = await settingsOf(flags);
    const value = await evaluationDataset(named ?? results.dataset, settings);
    const asked = await settingsOf(flags, [
      { key: "evaluation.dataset", value, origin: "--dataset" },
    ]);
    const dataset = await openNamedDataset(
      asked.settings.evaluation.dataset,
      asked.settings.environment,
    );
    if (dataset.fingerprint === protocol["dataset"]) {
      const gold = new Map<string, readonly string[]>();
      for (const { id, annotations } of await dataset.tasks(results.n)) {
        if (annotations.supportingPassages !== undefined)
          gold.set(id, annotations.supportingPassages);
      }
      return ({ id }) => gold.get(id) ?? null;
    }
    note(
      `${name}: ${how}: ${dataset.name} is not the evaluated dataset. Give that one with --dataset.`,
    );
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    note(`${name}: ${how}: ${errorMessage(error)}`);
  }
  return () => null;
}
