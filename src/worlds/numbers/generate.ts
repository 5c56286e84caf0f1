import { join } from "node:path";
import { writeJson } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { agentrlTasks } from "../../data/layouts/agentrl.ts";
import { TINY_WORLD_SPLITS } from "../tiny/names.ts";
import { writeJsonl, type WrittenFile } from "../../data/write-jsonl.ts";
import {
  NUMBER_WORLD_VERSION,
  type NumberWorld,
  numberWorld,
  numberWorldSchema,
} from "./number-world.ts";

/** `format` of the manifest. */
export const NUMBER_WORLD_FORMAT = "agentrl-numberworld";

/** Settings of `generateNumberWorld`. */
export const generateNumberWorldSchema = numberWorldSchema.omit({ split: true }).extend({
  splits: z
    .array(z.enum(TINY_WORLD_SPLITS))
    .min(1)
    .default(["train", "dev", "test"])
    .transform((splits) => [...new Set(splits)]),
  /** Per split. */
  questions: z.int().min(1).default(500),
});

/** Content of a number world's `manifest.json`. */
export interface NumberWorldManifest extends z.output<typeof generateNumberWorldSchema> {
  format: typeof NUMBER_WORLD_FORMAT;
  version: number;
  files: Record<string, WrittenFile>;
}

/**
 * Writes a number world: one `<split>.jsonl` of problems per split, and `manifest.json` last. Equal settings give equal bytes.
 *
 * @param out folder, created if missing.
 * @param options.onProgress receives the number of problems so far, at intervals.
 * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY
 * @throws {ExternalError} FILE_WRITE_FAILED; files written earlier stay, without a manifest.
 */
export async function generateNumberWorld(
  out: string,
  settings: z.input<typeof generateNumberWorldSchema>,
  options: { signal?: AbortSignal; onProgress?: (problems: number) => void } = {},
): Promise<NumberWorldManifest> {
  const checked = parseOptions(generateNumberWorldSchema, settings, "numberworld");
  const { splits, questions, ...ofWorld } = checked;
  const files: Record<string, WrittenFile> = {};
  for (const [i, split] of splits.entries()) {
    const name = `${split}.jsonl`;
    const onProgress = (made: number): void => options.onProgress?.(i * questions + made);
    const world = numberWorld({ ...ofWorld, split });
    const records = recordsOf(world, { questions, split, onProgress });
    files[name] = await writeJsonl(join(out, name), records, options.signal);
  }
  const manifest: NumberWorldManifest = {
    format: NUMBER_WORLD_FORMAT,
    version: NUMBER_WORLD_VERSION,
    ...checked,
    files,
  };
  await writeJson(join(out, "manifest.json"), manifest);
  return manifest;
}

function* recordsOf(
  world: NumberWorld,
  file: { questions: number; split: string; onProgress: (made: number) => void },
): Generator<object> {
  const { questions, split, onProgress } = file;
  for (let index = 0; index < questions; index++) {
    const task = world.problem(index);
    yield agentrlTasks.write?.record(task, { index, split, prompt: task.question }) ?? {};
    if ((index + 1) % 1000 === 0) onProgress(index + 1);
  }
}
