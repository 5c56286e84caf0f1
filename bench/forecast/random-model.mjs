// Writes a model of random weights: node random-model.mjs FOLDER HIDDEN LAYERS
import { writeFreshPolicy } from "../../dist/run/fresh-policy.js";

const [folder, hidden, layers] = process.argv.slice(2);
const hiddenSize = Number(hidden);
const shape = {
  ...{ hiddenSize, layers: Number(layers), intermediateSize: 2.75 * hiddenSize, maxPositions: 512 },
  ...{ heads: hiddenSize / 64, kvHeads: hiddenSize / 128, headDim: 64 },
};
await writeFreshPolicy(folder, shape, { seed: 1, environment: { name: "search-qa" } });
