import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { cachedModel } from "../../../src/engine/local/cached-model.ts";
import type {
  CachedModel,
  NewestToken,
  PickedToken,
} from "../../../src/engine/local/cached-steps.ts";
import { modelWeights, type ModelWeights } from "../../../src/engine/local/model-weights.ts";
import { flatten } from "../../../src/models/checkpoint.ts";
import { initialWeights } from "../../../src/models/initialise.ts";
import { openDevice, type Device } from "../../../src/onnx/device.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const SLOTS = 8;
const draw = random("ids");
const ids = Array.from({ length: 256 }, () => draw.int(tinyConfig.vocabSize));

/** A model with weights spread wider than fresh ones, and the number of graphs that it has compiled. */
async function openModel({ slots = SLOTS, packed = false } = {}): Promise<{
  model: CachedModel;
  weights: ModelWeights;
  compiled: () => number;
}> {
  const cpu = openDevice("cpu", 1);
  let count = 0;
  const device: Device = {
    ...cpu,
    compile: (graph, outputs, options) => {
      count += 1;
      return cpu.compile(graph, outputs, options);
    },
  };
  const named = initialWeights(tinyConfig, 7);
  const numbers = flatten(tinyConfig, new Map(named.map((each) => [each.name, each])), "test");
  const whole = await modelWeights(
    tinyConfig,
    numbers.map((each) => 3 * each),
    cpu,
  );
  const weights = packed ? { ...whole, transposed: false } : whole;
  const model = await cachedModel(tinyConfig, weights, { device, slots });
  return { model, weights, compiled: () => count };
}

/** The draws after the token at one position of the first `count` slots. */
async function drawn(model: CachedModel, count: number, position: number): Promise<PickedToken[]> {
  return model.step(Array.from({ length: count }, (_, slot) => newestOf(slot, position)));
}

function newestOf(slot: number, position: number): NewestToken {
  const pick = { temperature: 1, topP: 1, topK: 0 };
  return { slot, id: ids[position]!, position, pick, stream: random("draw") };
}

describe("prefill", () => {
  it("gives a copied prompt the bits of a computed one", async () => {
    const { model } = await openModel();
    for (const slot of [0, 1]) await model.fill(slot, ids.slice(0, 90), 0);
    await model.copy(0, 2, 90);
    const [one, two, copied] = await drawn(model, 3, 90);
    expect([two, copied]).toEqual([one, one]);
  });
});

describe("the graph of a cache in host memory", () => {
  it("is compiled once, for prompts and caches of every length", async () => {
    const { model, compiled } = await openModel();
    for (let at = 0; at < 240; at += 30) {
      await model.fill(0, ids.slice(at, at + 30), at);
      await drawn(model, 1, at + 30);
    }
    await model.clear();
    for (let count = 1; count <= 255; count += 31) await model.fill(0, ids.slice(0, count), 0);
    expect(compiled()).toBe(1);
  });
});

describe("packed matrices", () => {
  it("give a row the same bits in a step of any number of rows", async () => {
    const { model } = await openModel({ slots: 32, packed: true });
    await model.fill(0, ids.slice(0, 90), 0);
    for (let slot = 1; slot < 32; slot++) await model.copy(0, slot, 90);
    const found: PickedToken[] = [];
    for (const count of [1, 8, 9, 13, 17, 21, 25, 29, 32])
      found.push((await drawn(model, count, 90))[0]!);
    expect(found).toEqual(found.map(() => found[0]));
  });

  it("are packed again after the weights changed, before the next run", async () => {
    const { model, weights, compiled } = await openModel({ packed: true });
    const other = await openModel({ packed: true });
    for (const each of [model, other.model]) await each.fill(0, ids.slice(0, 5), 0);
    for (const each of [weights, other.weights]) {
      const { flat } = each.trained;
      flat!.forEach((number, i) => (flat![i] = 0.5 * number));
    }
    model.weightsChanged();
    for (const each of [model, other.model]) await each.fill(0, ids.slice(0, 20), 0);
    const [[changed], [old]] = [await drawn(model, 1, 20), await drawn(other.model, 1, 20)];
    expect(compiled()).toBe(2);
    expect(other.compiled()).toBe(1);
    expect(changed!.logprob).not.toBe(old!.logprob);
    const fresh = await cachedModel(tinyConfig, weights, {
      device: openDevice("cpu", 1),
      slots: SLOTS,
    });
    await fresh.fill(0, ids.slice(0, 20), 0);
    expect((await drawn(fresh, 1, 20))[0]).toEqual(changed);
  });

  it("are given back while the model rests, and packed again with the same bits", async () => {
    const { model, compiled } = await openModel({ packed: true });
    expect(compiled()).toBe(0);
    await model.fill(0, ids.slice(0, 90), 0);
    const [before] = await drawn(model, 1, 90);
    await model.rest();
    await model.fill(0, ids.slice(0, 90), 0);
    expect((await drawn(model, 1, 90))[0]).toEqual(before);
    expect(compiled()).toBe(2);
  });
});

describe("sequences in rows of unlike lengths", () => {
  it("have the bits that each has alone, while they grow, wait and leave their rows", async () => {
    const lengths = [3, 60, 126, 130, 383, 400, 5, 250, 127, 384, 90, 520];
    const draw = random("lengths");
    const text = Array.from({ length: 640 }, () => draw.int(tinyConfig.vocabSize));
    const tokenAt = (slot: number, position: number): NewestToken => {
      return { ...newestOf(slot, 0), id: text[position]!, position };
    };
    const { model } = await openModel({ slots: lengths.length });
    const alone = await openModel({ slots: 8 });
    for (const [slot, length] of lengths.entries())
      await model.fill(slot, text.slice(0, length), 0);
    const together = lengths.map((): PickedToken[] => []);
    const positions = [...lengths];
    for (let step = 0; step < 48; step++) {
      // Each waits for every fifth step, and the 512 are passed while others are short.
      const active = lengths.flatMap((_, slot) => ((slot + step) % 5 === 0 ? [] : [slot]));
      const found = await model.step(active.map((slot) => tokenAt(slot, positions[slot]!)));
      active.forEach((slot, i) => {
        together[slot]!.push(found[i]!);
        positions[slot]! += 1;
      });
    }
    for (const [slot, length] of lengths.entries()) {
      await alone.model.fill(0, text.slice(0, length), 0);
      const expected: PickedToken[] = [];
      for (let position = length; position < positions[slot]!; position++)
        expected.push((await alone.model.step([tokenAt(0, position)]))[0]!);
      expect(together[slot]).toEqual(expected);
    }
  });
});
