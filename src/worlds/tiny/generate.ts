import { join } from "node:path";
import { writeJson } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { agentrlCorpus } from "../../data/layouts/agentrl.ts";
import { hotpotqa } from "../../data/layouts/hotpotqa.ts";
import { writeJsonl, type WrittenFile } from "../../data/write-jsonl.ts";
import { TINY_WORLD_SPLITS } from "./names.ts";
import {
  mixSchema,
  TINY_WORLD_VERSION,
  type TinyWorld,
  tinyWorld,
  tinyWorldSchema,
} from "./tiny-world.ts";

/** Settings of `generateTinyWorld`. */
export const generateSchema = tinyWorldSchema.omit({ split: true }).extend({
  splits: z
    .array(z.enum(TINY_WORLD_SPLITS))
    .min(1)
    .default(["train", "dev", "test"])
    .transform((splits) => [...new Set(splits)]),
  /** Per split. */
  questions: z.int().min(1).default(500),
  /** Passages in each question's context; 0: no context, the questions refer to the whole corpus. */
  distractors: z.int().min(0).max(100).default(0),
  mix: mixSchema.prefault({}),
  /** Share of the chains that no passage answers; needs `missing`. */
  unanswerable: z.number().min(0).max(1).default(0),
});

/** Content of a tiny world's `manifest.json`. */
export interface TinyWorldManifest extends z.output<typeof generateSchema> {
  format: typeof TINY_WORLD_FORMAT;
  version: number;
  files: Record<string, WrittenFile>;
}

/** Names of the files of a tiny world with these splits. */
export function tinyWorldFiles(splits: readonly string[]): string[] {
  return [...splits.map((split) => `${split}.jsonl`), "corpus.jsonl", "manifest.json"];
}

/** `format` of the manifest. */
export const TINY_WORLD_FORMAT = "agentrl-tinyworld";

/**
 * Writes a tiny world: `corpus.jsonl` (one world per split, of `people` persons each; they share no entity), one
 * `<split>.jsonl` of questions in HotpotQA's layout per split, and `manifest.json` last. Equal settings give equal bytes.
 *
 * @param out folder, created if missing.
 * @param options.onProgress receives the number of passages so far, at intervals.
 * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY, TINY_WORLD_TOO_SMALL.
 * @throws {ExternalError} FILE_WRITE_FAILED; files written earlier stay, without a manifest.
 */
export async function generateTinyWorld(
  out: string,
  settings: z.input<typeof generateSchema>,
  options: { signal?: AbortSignal; onProgress?: (passages: number, of: number) => void } = {},
): Promise<TinyWorldManifest> {
  const checked = parseOptions(generateSchema, settings, "tinyworld");
  const { splits, questions, distractors, mix, unanswerable, ...ofWorld } = checked;
  const worlds = splits.map((split) => tinyWorld({ ...ofWorld, split }));
  const files: Record<string, WrittenFile> = {};
  // Questions first: they are few, and an impossible mix fails before the large corpus is written.
  for (const world of worlds) {
    const tasks = world.questions(questions, { mix, distractors, unanswerable });
    const name = `${world.split}.jsonl`;
    files[name] = await writeJsonl(
      join(out, name),
      questionRecords(tasks, world.split),
      options.signal,
    );
  }
  const passages = corpus(worlds, options.onProgress);
  const path = join(out, "corpus.jsonl");
  files["corpus.jsonl"] = await writeJsonl(path, passageRecords(passages), options.signal);
  const manifest: TinyWorldManifest = {
    format: TINY_WORLD_FORMAT,
    version: TINY_WORLD_VERSION,
    ...checked,
    files,
  };
  await writeJson(join(out, "manifest.json"), manifest);
  return manifest;
}

function* corpus(
  worlds: readonly TinyWorld[],
  onProgress: ((passages: number, of: number) => void) | undefined,
): Generator<Passage> {
  const size = worlds.reduce((sum, world) => sum + world.size, 0);
  let made = 0;
  for (const world of worlds) {
    for (const passage of world.passages()) {
      yield passage;
      made += 1;
      if (made % 10_000 === 0) onProgress?.(made, size);
    }
  }
}

function* questionRecords(tasks: Iterable<Task>, split: string): Generator<object> {
  let index = 0;
  for (const task of tasks) {
    yield hotpotqa.write?.record(task, { index, split, prompt: task.question }) ?? {};
    index += 1;
  }
}

function* passageRecords(passages: Iterable<Passage>): Generator<object> {
  for (const passage of passages) yield agentrlCorpus.write?.(passage) ?? {};
}
