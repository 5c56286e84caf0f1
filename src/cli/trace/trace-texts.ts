import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LintReading } from "../../trajectory/lint/lint-reading.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import { segmentText } from "../../report/segment-text.ts";
import type { TraceOrigin } from "./trace-origin.ts";

/** What ids are read with. */
export type TraceTexts = Pick<LintReading, "textOf" | "endIds" | "vocabSize">;

/** Reads ids by a tokenizer; without one, by that of the policy that the files name, where it lies here. Nothing is downloaded. */
export async function openTraceTexts(
  origin: TraceOrigin | null,
  given: Tokenizer | null,
): Promise<TraceTexts> {
  const tokenizer = given ?? (await findTokenizer(origin?.policy));
  if (tokenizer === null)
    return { textOf: (segment) => segmentText(segment, null), endIds: null, vocabSize: null };
  const { endIds, vocabSize } = tokenizer;
  const decode = (ids: readonly number[]): string => tokenizer.decode(ids);
  return { textOf: (segment) => segmentText(segment, decode), endIds, vocabSize };
}

/**
 * The tokenizer of a policy: `base`, or a folder.
 * @param isNamed false: null where it does not lie here, as a model of the hub does not.
 * @throws {DataError} TOKENIZER_BAD, FILE_MISSING, FILE_NOT_JSON
 */
export async function findTokenizer(
  policy: string | undefined,
  isNamed = false,
): Promise<Tokenizer | null> {
  if (policy === undefined) return null;
  const { BASE_POLICY } = await import("../../recipe/assemble.ts");
  const folder = policy === "base" ? BASE_POLICY : policy;
  if (!isNamed && !existsSync(join(folder, "tokenizer.json"))) return null;
  const { loadTokenizer } = await import("../../text/tokenizer.ts");
  return loadTokenizer(folder);
}
