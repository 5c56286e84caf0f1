import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { plainFeatures, type DecoderConfig } from "../../src/models/config.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";

/** Two layers, two query heads to each of two key/value heads; 300 ids: two specials, 256 bytes, 42 words. */
export const tinyConfig: DecoderConfig = {
  ...plainFeatures,
  architecture: "qwen2",
  qkvBias: true,
  vocabSize: 300,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 48,
  normEpsilon: 1e-6,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxPositions: 256,
};

const tinyWords = ["one", " one", " two", " three", "search", " the", " river", "</search>"];

/** Writes a model of random weights, spread wider than a fresh one's so that its distributions are not flat. */
export async function writeTinyModel(
  folder: string,
  config: DecoderConfig = tinyConfig,
  spread = 3,
): Promise<string> {
  const named = initialWeights(config, 7);
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), folder);
  for (let i = 0; i < weights.length; i++) weights[i]! *= spread;
  const files = wordTokenizer({ words: tinyWords, specials: ["<end>", "<pad>"] });
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(files.tokenizer));
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(files.config));
  return folder;
}
