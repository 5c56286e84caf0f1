import { join } from "node:path";
import { expect, it } from "vitest";
import { runNode } from "../helpers/run-node.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** 16.7 M parameters: 67 MB as float32, of which the embedding is 16.4. */
const shape = {
  vocabSize: 8000,
  hiddenSize: 512,
  layers: 4,
  heads: 8,
  kvHeads: 4,
  headDim: 64,
  intermediateSize: 1536,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  maxPositions: 64,
  architecture: "llama",
  tiedEmbeddings: true,
};

/** Needs the build, as `npm test` makes it. */
it.each(["F32", "BF16", "F16"])(
  "reading a checkpoint in %s takes memory for one copy and at most one tensor",
  async (dtype) => {
    const at = JSON.stringify(join(folder, dtype));
    const imports = `
      import { readCheckpoint, writeCheckpoint } from "./dist/models/checkpoint.js";
      import { plainFeatures } from "./dist/models/config.js";
      import { parameterCount } from "./dist/models/parameters.js";
    `;
    await runNode(`${imports}
      const config = { ...plainFeatures, ...${JSON.stringify(shape)} };
      const weights = new Float32Array(parameterCount(config)).fill(0.5);
      await writeCheckpoint(${at}, { config, weights }, { dtype: "${dtype}", tokenizerFrom: ${at} });
    `);
    // A process of its own, whose peak is the reading's.
    const printed = await runNode(`${imports}
      const before = process.resourceUsage().maxRSS;
      const { weights } = await readCheckpoint(${at});
      const grown = (process.resourceUsage().maxRSS - before) * 1024;
      console.log(JSON.stringify({ grown, copy: weights.byteLength, last: weights.at(-1) }));
    `);
    const { grown, copy, last } = JSON.parse(printed) as Record<string, number>;
    expect(last).toBe(0.5);
    expect(grown! - copy!).toBeLessThan(4 * shape.vocabSize * shape.hiddenSize);
  },
);
