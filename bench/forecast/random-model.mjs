// Writes a model of random weights: node random-model.mjs FOLDER HIDDEN LAYERS
import { plainFeatures } from "../../dist/models/config.js";
import { writeRandomModel } from "../../dist/recipe/probe/random-model.js";

const [folder, hidden, layers] = process.argv.slice(2);
const hiddenSize = Number(hidden);
await writeRandomModel(folder, {
  ...plainFeatures,
  ...{ architecture: "llama", vocabSize: 2048, hiddenSize, layers: Number(layers) },
  ...{ heads: hiddenSize / 64, kvHeads: hiddenSize / 128, headDim: 64 },
  ...{ intermediateSize: 2.75 * hiddenSize, normEpsilon: 1e-5, ropeTheta: 10_000 },
  ...{ tiedEmbeddings: true, maxPositions: 512 },
});
