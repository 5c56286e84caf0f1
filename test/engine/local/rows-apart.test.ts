import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { plainFeatures, type DecoderConfig } from "../../../src/models/config.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const engines: LocalEngine[] = [];
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const configs: Record<string, DecoderConfig> = {
  qwen2: tinyConfig,
  llama: { ...tinyConfig, ...plainFeatures, architecture: "llama" },
  qwen3: { ...tinyConfig, ...plainFeatures, architecture: "qwen3", qkNorm: true },
};

function row(seed: number, length: number): TrainingRow {
  const draw = random(seed);
  const ids = Array.from({ length: length + 1 }, () => draw.int(tinyConfig.vocabSize));
  const weights = ids.slice(1).map(() => 0.01);
  return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
}

describe.each(Object.entries(configs))("rows that are run together by %s", (name, config) => {
  it("see nothing of one another, nor of the padding behind them", async () => {
    const model = await writeTinyModel(join(folder, name), config);
    const engine = await openLocalEngine({ model, workers: 1, slots: 1, microBatchTokens: 128 });
    engines.push(engine);
    const [own, neighbour, other] = [row(1, 20), row(2, 31), row(3, 31)];
    const beside = async (each: TrainingRow): Promise<Float32Array> => {
      const [found] = await engine.logprobs([own, each]);
      return found!;
    };
    // To the bit: the neighbour's tokens enter none of the sums.
    expect(await beside(other)).toEqual(await beside(neighbour));
    const [alone] = await engine.logprobs([own]);
    (await beside(other)).forEach((each, t) => {
      expect(each).toBeCloseTo(alone![t]!, 4);
    });
  });
});
