import { join } from "node:path";
import { flatten, writeCheckpoint } from "../../models/checkpoint.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { initialWeights } from "../../models/initialise.ts";
import { parameterCount } from "../../models/parameters.ts";
import { writeFreshTokenizer } from "../fresh-policy.ts";

/** Parameters that are drawn in two or three seconds. */
const MOST_PARAMETERS = 40_000_000;
/** Ids of the tokenizer that it gets, rounded up. */
const LEAST_VOCABULARY = 2048;

/** Whether a model of that shape can be drawn within a probe's time, with a tokenizer of ours. */
export function canBeDrawn(config: DecoderConfig): boolean {
  return parameterCount(config) <= MOST_PARAMETERS && config.vocabSize >= LEAST_VOCABULARY;
}

/** Writes a model of a shape with random weights, which computes as long as any other, and says nothing. */
export async function writeRandomModel(folder: string, config: DecoderConfig): Promise<void> {
  await writeFreshTokenizer(folder);
  const tensors = new Map(initialWeights(config, 1).map((tensor) => [tensor.name, tensor]));
  const weights = flatten(config, tensors, join(folder, "random"));
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
}
