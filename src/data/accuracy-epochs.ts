import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, DataError } from "../base/errors.ts";
import { exists, isFolder, readJson, sha256File } from "../base/files.ts";
import { z } from "../base/schema.ts";
import type { Task } from "../trajectory/task.ts";
import { type PassRate, readPassRates } from "./pass-rates.ts";

/** A policy's accuracy on a question in one epoch, or its mean of another reward. */
export type Accuracy = Pick<PassRate, "id" | "question" | "rate">;

/** Options of datasets that choose questions by what a policy did before. */
export const epochsShape = {
  /** `rows.jsonl` of an evaluation or `draws.jsonl` of a synthesis; several files are epochs, earliest first. Or the folder of a training, whose n-th visit of a question is epoch n. */
  rows: z.union([z.string().transform((file) => [file]), z.array(z.string()).min(1)]),
  /** Name of the draw to use from a synthesis; default: all draws. */
  draw: z.string().optional(),
  /** Reward to use from a training, before weights; default: the combined reward. */
  reward: z.string().optional(),
};

interface EpochsSettings {
  rows: readonly string[];
  draw?: string | undefined;
  reward?: string | undefined;
}

const stateSchema = z.looseObject({
  history: z.looseObject({
    tasks: z.record(
      z.string(),
      z.array(z.looseObject({ means: z.record(z.string(), z.number()) })),
    ),
  }),
});

/**
 * Accuracies by epoch, and the hashes of the files that they were read from.
 *
 * @param of the training's questions: its history has their ids alone. Ids that are of none are left out.
 * @throws {ConfigError} RECIPE_BAD_VALUE for the folder of a training without `of`.
 * @throws {DataError} as `readPassRates`; FILE_MISSING for a folder without checkpoints; DATA_EMPTY where the history does not have the
 *   reward of any of the questions.
 */
export async function readEpochs(
  { rows, draw, reward = "reward" }: EpochsSettings,
  of: readonly Task[] | null,
): Promise<{ epochs: Accuracy[][]; hashes: string[] }> {
  const epochs: Accuracy[][] = [];
  const hashes: string[] = [];
  for (const path of rows) {
    const file = (await isFolder(path)) ? await newestState(path) : path;
    if (file === path) epochs.push(await readPassRates(path, draw));
    else if (of === null) throw withoutQuestions(path);
    else epochs.push(...visitsOf(stateSchema.parse(await readJson(file)), { file, reward, of }));
    hashes.push(await sha256File(file));
  }
  return { epochs, hashes };
}

/** The state of a training in its newest checkpoint. */
async function newestState(run: string): Promise<string> {
  const folder = join(run, "checkpoints");
  const names = (await exists(folder)) ? await readdir(folder) : [];
  const steps = names.flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? 0));
  const file = join(folder, `step-${Math.max(0, ...steps)}`, "method-state.json");
  if (await exists(file)) return file;
  const message = `${run}: is a folder without a checkpoint that holds a training's history (${file}). Name the folder of a training by rollouts, or a file.`;
  throw new DataError("FILE_MISSING", message);
}

function visitsOf(
  { history: { tasks } }: z.output<typeof stateSchema>,
  { file, reward, of }: { file: string; reward: string; of: readonly Task[] },
): Accuracy[][] {
  const epochs: Accuracy[][] = [];
  const known = new Set<string>();
  for (const { id, question } of of) {
    for (const [epoch, { means }] of (tasks[id] ?? []).entries()) {
      for (const name of Object.keys(means)) known.add(name);
      const rate = means[reward];
      if (rate !== undefined) (epochs[epoch] ??= []).push({ id, question, rate });
    }
  }
  if (epochs.length > 0)
    return Array.from(epochs, (each) => (each as Accuracy[] | undefined) ?? []);
  const found =
    known.size === 0
      ? `of its ${Object.keys(tasks).length} questions none is among the ${of.length} of the dataset`
      : `has no reward "${reward}". Known: ${[...known].join(", ")}`;
  throw new DataError("DATA_EMPTY", `${file}: ${found}.`);
}

function withoutQuestions(path: string): ConfigError {
  const message = `rows is ${path}, the folder of a training, whose history has no texts of questions. Name its dataset in "of".`;
  return new ConfigError("RECIPE_BAD_VALUE", message);
}
