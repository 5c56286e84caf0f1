import { existsSync } from "node:fs";
import { join } from "node:path";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import type { Decode } from "../trajectory/trajectory.ts";
import type { RunFiles } from "../view/runs/run-files.ts";
import { readRunCheckpoints } from "../view/runs/run-summary.ts";
import type { AskedQuestion, RunReading } from "../view/viewer/run-items.ts";

/** Finds tokenizers and questions for trajectories of runs; opened ones are kept for the next run. */
export interface RunReader {
  readingOf: (run: RunFiles) => Promise<RunReading>;
}

/**
 * A run's tokenizer is that of a checkpoint of its own, or of the policy that it started from; its questions are those of its dataset, if
 * it is on this machine and unchanged. Nothing is downloaded. Without them a page shows less, and `note` gets a message.
 */
export function openRunReader(note: (text: string) => void): RunReader {
  const questions = new Map<string, Promise<Map<string, AskedQuestion>>>();
  return {
    async readingOf(run) {
      const decode = await findDecode(run, note);
      const dataset = run.manifest.hashes["dataset"];
      const key = typeof dataset === "string" ? dataset : run.folder;
      const found = questions.get(key) ?? findQuestions(run, note);
      questions.set(key, found);
      const asked = await found;
      return { decode, questionOf: (taskId) => asked.get(taskId) ?? null };
    },
  };
}

async function findDecode(run: RunFiles, note: (text: string) => void): Promise<Decode | null> {
  const { loadTokenizer } = await import("../text/tokenizer.ts");
  const { folderOfName } = await import("../run/bases.ts");
  const from = run.settings?.values.get("policy.from");
  const checkpoints = (await readRunCheckpoints(run.folder)).map(({ path }) => path).reverse();
  const named = typeof from === "string" ? await folderOfName(from) : "";
  const folder = [...checkpoints, named].find((path) => existsSync(join(path, "tokenizer.json")));
  if (folder === undefined) return null;
  try {
    const tokenizer = await loadTokenizer(folder);
    return (ids) => tokenizer.decode(ids);
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    note(`${run.folder}: prompts are not shown: ${errorMessage(error)}`);
    return null;
  }
}

/** The questions that a run was trained on, by the ids of its trajectories; empty if they are not available. */
async function findQuestions(
  run: RunFiles,
  note: (text: string) => void,
): Promise<Map<string, AskedQuestion>> {
  const found = new Map<string, AskedQuestion>();
  const how = "right and wrong answers and gold passages are not marked";
  try {
    const { openNamedDataset } = await import("../run/assemble.ts");
    const { loadRecipe, selectTier } = await import("../run/settings/recipe-file.ts");
    const { loadSettings, recordedSettings, resolveSettings } =
      await import("../run/settings/settings.ts");
    const { settingsSchema } = await import("../run/settings/settings-schema.ts");
    // A slash means a path.
    const recipe = await loadRecipe(join(run.folder, "/recipe.resolved.yaml"));
    const tier = selectTier(recipe, run.manifest.tier ?? run.settings?.tier ?? undefined);
    const resolved = recordedSettings(resolveSettings(recipe, { tier }));
    // Other settings may come from another version.
    const { dataset: named, environment } = resolved.settings as Record<string, unknown>;
    const only = { ...resolved, settings: { dataset: named, environment } };
    const { dataset: questions, environment: world } = settingsSchema.shape;
    const looked = z.strictObject({ dataset: questions, environment: world });
    const { settings } = await loadSettings(looked, only);
    const dataset = await openNamedDataset(settings.dataset, settings.environment);
    if (dataset.fingerprint !== run.manifest.hashes["dataset"]) {
      note(`${run.folder}: ${how}: its dataset ${dataset.name} has changed since.`);
      return found;
    }
    for (const { id, question, references, annotations } of await dataset.tasks())
      found.set(id, { question, references, gold: annotations.supportingPassages ?? null });
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    note(`${run.folder}: ${how}: ${errorMessage(error)}`);
  }
  return found;
}
