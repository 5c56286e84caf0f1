import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { plainFeatures } from "../../dist/models/config.js";
import { initialWeights } from "../../dist/models/initialise.js";
import { flatten, writeCheckpoint } from "../../dist/models/checkpoint.js";
import { parameterCount } from "../../dist/models/parameters.js";
import { wordTokenizer } from "../../dist/text/word-tokenizer.js";

const common = {
  ...plainFeatures,
  architecture: "llama",
  layers: 4,
  heads: 4,
  kvHeads: 2,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
  maxPositions: 512,
};

export const models = {
  "0.90M": { ...common, vocabSize: 1379, hiddenSize: 128, headDim: 32, intermediateSize: 344 },
  "3.95M": { ...common, vocabSize: 4096, hiddenSize: 256, headDim: 64, intermediateSize: 688 },
};

/** Writes a model with random weights and a byte tokenizer. @returns its number of parameters. */
export async function writeModel(folder, config) {
  const named = initialWeights(config, 1);
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), folder);
  const { tokenizer, config: tokenizerConfig } = wordTokenizer({
    words: [],
    specials: ["<end>", "<pad>"],
  });
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(tokenizerConfig));
  return parameterCount(config);
}
