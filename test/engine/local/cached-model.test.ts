import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { cachedModel, hostGraphs } from "../../../src/engine/local/cached-model.ts";
import type { CachedModel, PickedToken } from "../../../src/engine/local/cached-steps.ts";
import { modelWeights } from "../../../src/engine/local/model-weights.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { openDevice, type Device } from "../../../src/onnx/device.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const SLOTS = 8;
const draw = random("ids");
const ids = Array.from({ length: 256 }, () => draw.int(tinyConfig.vocabSize));

/** A model with weights spread wider than fresh ones, and the number of graphs that it has compiled. */
async function openModel(): Promise<{ model: CachedModel; compiled: () => number }> {
  const cpu = openDevice("cpu", 1);
  let count = 0;
  const device: Device = {
    ...cpu,
    compile: (graph, outputs) => {
      count += 1;
      return cpu.compile(graph, outputs);
    },
  };
  const named = initialWeights(tinyConfig, 7);
  const numbers = flatten(tinyConfig, new Map(named.map((each) => [each.name, each])), "test");
  const weights = await modelWeights(
    tinyConfig,
    numbers.map((each) => 3 * each),
    cpu,
  );
  const model = await cachedModel(tinyConfig, weights, { device, slots: SLOTS });
  return { model, compiled: () => count };
}

/** The draws after the token at one position of the first `count` slots. */
async function drawn(
  model: CachedModel,
  count: number,
  position: number,
): Promise<(PickedToken | null)[]> {
  const pick = { temperature: 1, topP: 1, topK: 0 };
  return model.step(
    Array.from({ length: SLOTS }, (_, slot) =>
      slot < count ? { id: ids[position]!, position, pick, stream: random("draw") } : null,
    ),
  );
}

describe("prefill", () => {
  it("gives the same bits in a chunk that fits and at the start of a longer one", async () => {
    const { model } = await openModel();
    for (const count of [1, 15, 16, 17, 48, 49, 64, 65, 80, 81, 96, 97, 112, 113, 127]) {
      await model.fill(0, ids.slice(0, count), 0);
      await model.fill(1, ids.slice(0, 128), 0);
      const [fitting, longer] = await drawn(model, 2, count);
      expect(fitting, `${count} tokens`).toEqual(longer);
    }
  });

  it("gives the same bits behind cached positions, in a chunk that fits and in a longer one", async () => {
    const { model } = await openModel();
    for (const slot of [0, 1]) await model.fill(slot, ids.slice(0, 70), 0);
    for (const count of [16, 33, 80, 81, 100]) {
      await model.fill(0, ids.slice(70, 70 + count), 70);
      await model.fill(1, ids.slice(70, 70 + 120), 70);
      const [fitting, longer] = await drawn(model, 2, 70 + count);
      expect(fitting, `${count} tokens`).toEqual(longer);
    }
  });

  it("gives a copied prompt the bits of a computed one", async () => {
    const { model } = await openModel();
    for (const slot of [0, 1]) await model.fill(slot, ids.slice(0, 90), 0);
    await model.copy(0, 2, 90);
    const [one, two, copied] = await drawn(model, 3, 90);
    expect([two, copied]).toEqual([one, one]);
  });
});

describe("the graphs of a cache in host memory", () => {
  it("are compiled once for caches of every capacity", async () => {
    const { model, compiled } = await openModel();
    await model.fill(0, ids.slice(0, 30), 0);
    const known = compiled();
    for (let at = 30; at < 240; at += 30) {
      await model.fill(0, ids.slice(at, at + 30), at);
      await drawn(model, 1, at + 30);
    }
    await model.clear();
    await model.fill(0, ids.slice(0, 30), 0);
    expect(compiled()).toBe(known);
  });

  it("are no more than the memory forecast counts", async () => {
    const { model, compiled } = await openModel();
    for (let count = 1; count <= 255; count += 6) await model.fill(0, ids.slice(0, count), 0);
    expect(compiled()).toBe(hostGraphs(SLOTS));
  });
});
