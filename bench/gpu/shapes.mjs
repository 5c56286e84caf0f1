// What is measured: shapes of models, and how much work each is given.
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { writeCheckpoint } from "../../dist/models/checkpoint.js";
import { plainFeatures } from "../../dist/models/config.js";
import { parameterCount, parameterSpecs, tensorsOf } from "../../dist/models/parameters.js";
import { wordTokenizer } from "../../dist/text/word-tokenizer.js";

const qwen = {
  ...plainFeatures,
  architecture: "qwen2",
  qkvBias: true,
  normEpsilon: 1e-6,
  ropeTheta: 1_000_000,
  tiedEmbeddings: true,
  maxPositions: 32_768,
};

/** Rows of a step and their length, half of them scored; sequences sampled together, their prompts and what is written. */
const realWork = {
  training: { rows: 4, length: 1024 },
  sampling: { sequences: 64, prompt: 256, fresh: 128 },
  caches: [256, 512, 1024, 2048],
  lora: { rank: 16, alpha: 32 },
};

export const shapes = {
  tiny: {
    config: {
      ...{ vocabSize: 512, hiddenSize: 32, layers: 2, heads: 4, kvHeads: 2, headDim: 8 },
      ...{ intermediateSize: 48, ...qwen },
    },
    work: {
      training: { rows: 2, length: 64 },
      sampling: { sequences: 4, prompt: 24, fresh: 8 },
      caches: [32, 100],
      lora: { rank: 4, alpha: 8 },
    },
  },
  // Qwen2.5-0.5B's.
  "0.5b": {
    config: {
      ...{ vocabSize: 151_936, hiddenSize: 896, layers: 24, heads: 14, kvHeads: 2, headDim: 64 },
      ...{ intermediateSize: 4864, ...qwen },
    },
    work: realWork,
  },
  // Qwen2.5-1.5B's.
  "1.5b": {
    config: {
      ...{ vocabSize: 151_936, hiddenSize: 1536, layers: 28, heads: 12, kvHeads: 2, headDim: 128 },
      ...{ intermediateSize: 8960, ...qwen },
    },
    work: realWork,
  },
};

/** Writes a model of random weights in bfloat16, with a byte tokenizer, unless the folder has it. */
export async function writeShape(folder, config) {
  if (existsSync(folder)) return;
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    const weights = randomWeights(config);
    const { tokenizer, config: tokenizerConfig } = wordTokenizer({
      words: [],
      specials: ["<end>", "<pad>"],
    });
    await writeCheckpoint(
      unfinished,
      { config, weights },
      { dtype: "BF16", tokenizerFrom: unfinished },
    );
    await writeFile(`${unfinished}/tokenizer.json`, JSON.stringify(tokenizer));
    await writeFile(`${unfinished}/tokenizer_config.json`, JSON.stringify(tokenizerConfig));
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** As wide as a fresh model's, from a generator that is fast and no more: nothing is learnt from them. */
function randomWeights(config) {
  const weights = new Float32Array(parameterCount(config));
  let state = 2_463_534_242;
  for (const { name, shape, data } of tensorsOf(parameterSpecs(config), weights)) {
    if (shape.length === 1) {
      data.fill(name.endsWith(".bias") ? 0 : 1);
      continue;
    }
    const width = name.includes("embed") ? 0.04 : Math.sqrt(3 / shape[1]);
    for (let i = 0; i < data.length; i++) {
      // Marsaglia's xorshift; uniform within ±width.
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      data[i] = (width * state) / 2 ** 31;
    }
  }
  return weights;
}
