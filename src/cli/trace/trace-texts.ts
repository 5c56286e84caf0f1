import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { LintReading } from "../../trajectory/lint/lint-reading.ts";
import { segmentText } from "../../trajectory/trajectory.ts";
import type { TraceOrigin } from "./trace-origin.ts";

/** Tokenizer for ids. */
export type TraceTexts = Pick<LintReading, "textOf" | "endIds" | "vocabSize">;

/** A tokenizer, and the size of its model's vocabulary, which may be padded beyond the tokenizer's. */
export interface ModelWords {
  tokenizer: Tokenizer;
  /** null: unknown. */
  vocabSize: number | null;
}

/**
 * Reads ids by a model's tokenizer; without one, by the tokenizer of the recorded policy, if it is on this machine. Nothing is downloaded.
 */
export async function openTraceTexts(
  origin: TraceOrigin | null,
  given: ModelWords | null,
): Promise<TraceTexts> {
  const words = given ?? (await findWords(origin?.policy));
  if (words === null)
    return { textOf: (segment) => segmentText(segment, null), endIds: null, vocabSize: null };
  const { tokenizer, vocabSize } = words;
  const decode = (ids: readonly number[]): string => tokenizer.decode(ids);
  return { textOf: (segment) => segmentText(segment, decode), endIds: tokenizer.endIds, vocabSize };
}

/**
 * The tokenizer of a policy: `base`, or a folder.
 * @param isNamed false: null if it is not on this machine, such as a model of the hub.
 * @throws {DataError} TOKENIZER_BAD, FILE_MISSING, FILE_NOT_JSON
 */
export async function findWords(
  policy: string | undefined,
  isNamed = false,
): Promise<ModelWords | null> {
  if (policy === undefined) return null;
  const { folderOfName } = await import("../../run/bases.ts");
  const folder = await folderOfName(policy);
  if (!isNamed && !existsSync(join(folder, "tokenizer.json"))) return null;
  const { loadTokenizer } = await import("../../text/tokenizer.ts");
  const config = join(folder, "config.json");
  const { vocab_size: size } = existsSync(config)
    ? ((await readJson(config)) as { vocab_size?: unknown })
    : {};
  const tokenizer = await loadTokenizer(folder);
  return { tokenizer, vocabSize: typeof size === "number" ? size : null };
}
