import { existsSync } from "node:fs";
import { join } from "node:path";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import type { ResultFiles } from "../report/results-files.ts";
import type { GoldOf } from "../report/run-figures.ts";
import type { Decode } from "../trajectory/segment-text.ts";
import type { ReadableResult } from "../report/viewer/evaluation-items.ts";
import { settingsOf } from "./recipe-options.ts";

/** What a report is read with beside the results' own files. */
export interface ReadingFlags {
  /** Folder with a tokenizer.json. */
  tokenizer?: string;
  /** The questions that were asked, if they cannot be found by what the results say. */
  dataset?: string;
}

/**
 * Finds what the trajectories of results are read with: the policy's tokenizer and the questions' gold passages. Neither is downloaded.
 * Without them a report shows less, which `note` is told.
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
  const { BASE_POLICY } = await import("../recipe/assemble.ts");
  const { from = "" } = results.policy;
  const folder = named ?? (from === "base" ? BASE_POLICY : from);
  if (named === undefined && !existsSync(join(folder, "tokenizer.json"))) return null;
  const tokenizer = await loadTokenizer(folder);
  return (ids) => tokenizer.decode(ids);
}

/** Gold of the very questions that were asked: those of a dataset with the fingerprint that the results name. */
async function findGold(
  { name, results }: ResultFiles,
  named: string | undefined,
  note: (text: string) => void,
): Promise<GoldOf> {
  const { recipe, protocol } = results;
  const how = "Gold passages are not marked";
  try {
    const { evaluationDataset } = await import("../recipe/run-eval.ts");
    const { openNamedDataset } = await import("../recipe/assemble.ts");
    const flags =
      recipe === undefined ? { recipe: "search-r1" } : { recipe: recipe.name, tier: recipe.tier };
    const { settings } = await settingsOf(flags);
    const value = evaluationDataset(named ?? results.dataset, settings);
    const asked = await settingsOf(flags, [
      { key: "evaluation.dataset", value, origin: "--dataset" },
    ]);
    const dataset = await openNamedDataset(asked.settings.evaluation.dataset, asked.settings.environment);
    if (dataset.fingerprint === protocol["dataset"]) {
      const gold = new Map<string, readonly string[]>();
      for (const { id, annotations } of await dataset.tasks(results.n)) {
        if (annotations.supportingPassages !== undefined)
          gold.set(id, annotations.supportingPassages);
      }
      return ({ id }) => gold.get(id) ?? null;
    }
    note(
      `${name}: ${how}: ${dataset.name} is not the dataset that was asked. Name it by --dataset.`,
    );
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    note(`${name}: ${how}: ${errorMessage(error)}`);
  }
  return () => null;
}
