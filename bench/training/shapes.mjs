// The models, batches and tokens that contenders are given: one folder, read by all.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { random } from "../../dist/base/random.js";
import { models as small, writeModel } from "../engine/models.mjs";

const models = {
  ...small,
  "27.4M": {
    ...small["3.95M"],
    ...{ vocabSize: 8192, hiddenSize: 512, layers: 8, heads: 8, kvHeads: 4 },
    ...{ headDim: 64, intermediateSize: 1376 },
  },
  // The shape of SmolLM2-135M.
  "135M": {
    ...small["3.95M"],
    ...{ vocabSize: 49_152, hiddenSize: 576, layers: 30, heads: 9, kvHeads: 3 },
    ...{ headDim: 64, intermediateSize: 1536 },
  },
};

/** Rows of a training step by model. */
export const batches = {
  "0.90M": { batch: 32, length: 160 },
  "3.95M": { batch: 16, length: 128 },
  "27.4M": { batch: 8, length: 256 },
  "135M": { batch: 8, length: 256 },
};

/** Writes the model and its rows of random tokens. @returns {folder, rows: path of the rows, parameters}. */
export async function writeWork(work, model) {
  const folder = join(work, model);
  await mkdir(folder, { recursive: true });
  const parameters = await writeModel(folder, models[model]);
  const { batch, length } = batches[model];
  const rows = join(folder, "rows.json");
  await writeFile(rows, JSON.stringify(randomRows(models[model].vocabSize, batch, length + 1)));
  return { folder, rows, parameters };
}

export async function readRows(path) {
  return JSON.parse(await readFile(path, "utf8"));
}

/** Writes prompts of random tokens, all different or all alike. @returns their file's path. */
export async function writePrompts(folder, model, { sequences, promptTokens, alike = false }) {
  const path = join(folder, "prompts.json");
  // Room for other first tokens in later turns.
  const prompts = randomRows(models[model].vocabSize - 1000, alike ? 1 : sequences, promptTokens);
  const all = alike ? Array.from({ length: sequences }, () => prompts[0]) : prompts;
  await writeFile(path, JSON.stringify(all));
  return path;
}

function randomRows(vocabSize, count, length) {
  const draw = random("rows");
  return Array.from({ length: count }, () => Array.from({ length }, () => draw.int(vocabSize)));
}
