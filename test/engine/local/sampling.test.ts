import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { SampleRequest } from "../../../src/engine/engine.ts";
import { openLocalEngine, type LocalEngine } from "../../../src/engine/local/local-engine.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
let model: string;
let engine: LocalEngine;

beforeAll(async () => {
  model = await writeTinyModel(folder);
  engine = await openLocalEngine({ model, workers: 2, slots: 8 });
});
afterAll(() => engine.close());

function prompt(seed: number, length: number): number[] {
  const draw = random(seed);
  return Array.from({ length }, () => draw.int(tinyConfig.vocabSize));
}

function request(options: Partial<SampleRequest> = {}): SampleRequest {
  return {
    promptIds: prompt(1, 20),
    maxTokens: 12,
    stopIds: [],
    stopStrings: [],
    temperature: 1,
    topP: 1,
    topK: 0,
    seed: 3,
    sequence: null,
    ...options,
  };
}

/** What the trainer says of a completion. */
async function scored(promptIds: readonly number[], ids: readonly number[]): Promise<number[]> {
  const all = [...promptIds, ...ids];
  const weights = all.slice(1).map((_, i) => (i + 1 >= promptIds.length ? 1 : 0));
  const row = { inputs: all.slice(0, -1), targets: all.slice(1), fields: { weights } };
  const [logprobs] = await engine.logprobs([row]);
  return [...logprobs!].slice(promptIds.length - 1);
}

function largestGap(a: readonly number[], b: readonly number[]): number {
  expect(a).toHaveLength(b.length);
  return Math.max(...a.map((each, i) => Math.abs(each - b[i]!)));
}

describe("a group of requests with one prompt", () => {
  it("copies what the first of them computed, and each gets to the bit what it gets alone", async () => {
    const group = [1, 2, 3, 4, 5, 6].map((seed) =>
      request({ seed, promptIds: prompt(11, 150), sequence: `member ${seed}` }),
    );
    const together = await Promise.all(group.map((each) => engine.sample(each)));
    // One after the other, each in a place that held something else before.
    for (const [i, each] of group.entries()) {
      engine.forget(`member ${i + 1}`);
      await Promise.all(
        Array.from({ length: 16 }, (_, k) => engine.sample(request({ promptIds: prompt(k, 30) }))),
      );
      expect(await engine.sample({ ...each, sequence: null })).toEqual(together[i]);
    }
    expect(new Set(together.map(({ ids }) => ids.join())).size).toBeGreaterThan(1);
  });

  it("goes on from copied places as from computed ones", async () => {
    const promptIds = prompt(12, 70);
    const [one, two] = await Promise.all(
      ["a", "b"].map((sequence) => engine.sample(request({ promptIds, sequence }))),
    );
    expect(two).toEqual(one);
    const longer = [...promptIds, ...one!.ids, ...prompt(13, 9)];
    const [left, right] = await Promise.all(
      ["a", "b"].map((sequence) => engine.sample(request({ promptIds: longer, sequence }))),
    );
    expect(right).toEqual(left);
    expect(largestGap(left!.logprobs, await scored(longer, left!.ids))).toBeLessThan(1e-4);
    engine.forget("a");
    engine.forget("b");
  });
});

describe("sampled log-probabilities", () => {
  it("equal the trainer's, also where the cache grows in the middle of a sequence", async () => {
    // Positions 120 to 139 lie on both sides of a cache step.
    for (const length of [1, 2, 17, 63, 64, 65, 120]) {
      const promptIds = prompt(length, length);
      const { ids, logprobs } = await engine.sample(request({ promptIds, maxTokens: 20 }));
      expect(ids).toHaveLength(20);
      expect(largestGap(logprobs, await scored(promptIds, ids))).toBeLessThan(1e-4);
    }
  });

  it("equal the trainer's on the second turn of a sequence", async () => {
    const first = prompt(5, 30);
    const { ids } = await engine.sample(request({ promptIds: first, sequence: "turns" }));
    const second = [...first, ...ids, ...prompt(6, 41)];
    const next = await engine.sample(request({ promptIds: second, sequence: "turns", seed: 8 }));
    engine.forget("turns");
    expect(largestGap(next.logprobs, await scored(second, next.ids))).toBeLessThan(1e-4);
  });

  it("equal the trainer's when the second turn leaves the path of the first", async () => {
    const first = prompt(5, 30);
    await engine.sample(request({ promptIds: first, sequence: "fork" }));
    const second = [...first.slice(0, 11), ...prompt(9, 12)];
    const next = await engine.sample(request({ promptIds: second, sequence: "fork", seed: 8 }));
    engine.forget("fork");
    expect(largestGap(next.logprobs, await scored(second, next.ids))).toBeLessThan(1e-4);
  });
});

describe("a completion", () => {
  it("depends on its seed, prompt and weights, not on what runs beside it", async () => {
    const turns = async (name: string): Promise<unknown[]> => {
      const first = prompt(2, 45);
      const one = await engine.sample(request({ promptIds: first, sequence: name, seed: 11 }));
      const second = [...first, ...one.ids, ...prompt(3, 9)];
      const two = await engine.sample(request({ promptIds: second, sequence: name, seed: 12 }));
      engine.forget(name);
      return [one, two];
    };
    const alone = await turns("alone");
    const noise = Array.from({ length: 40 }, (_, i) =>
      engine.sample(request({ promptIds: prompt(i, 1 + 5 * i), maxTokens: 5 + i, seed: i })),
    );
    const [beside] = await Promise.all([turns("beside"), ...noise]);
    expect(beside).toEqual(alone);
    const [another] = await Promise.all([turns("another"), ...noise.slice(0, 3)]);
    expect(another).toEqual(alone);
  });

  it("is the same to the bit in a step of few rows and of many, also where it moves to another place", async () => {
    const wide = await openLocalEngine({ model, workers: 1, slots: 32 });
    const requests = Array.from({ length: 20 }, (_, i) =>
      request({ promptIds: prompt(i, 20 + i), seed: i, maxTokens: 3 + i }),
    );
    const together = await Promise.all(requests.map((each) => wide.sample(each)));
    for (const [i, each] of requests.entries()) {
      if (i % 6 === 1) expect(await wide.sample(each)).toEqual(together[i]);
    }
    await wide.close();
  });

  it("goes on in its place after it moved and waited there", async () => {
    const wide = await openLocalEngine({ model, workers: 1, slots: 32 });
    const play = async (name: number): Promise<number[]> => {
      const sequence = `s${name}`;
      const first = await wide.sample(
        request({ promptIds: prompt(name, 30), maxTokens: 2 + name, seed: name, sequence }),
      );
      const promptIds = [...prompt(name, 30), ...first.ids, ...prompt(name + 50, 20)];
      const second = await wide.sample(request({ promptIds, maxTokens: 12, seed: name, sequence }));
      wide.forget(sequence);
      return [...first.logprobs, ...second.logprobs];
    };
    const names = Array.from({ length: 18 }, (_, i) => i);
    const together = await Promise.all(names.map(play));
    for (const name of [0, 9, 17]) expect(await play(name)).toEqual(together[name]);
    await wide.close();
  });

  it("differs with another seed", async () => {
    const one = await engine.sample(request({ seed: 1 }));
    const two = await engine.sample(request({ seed: 2 }));
    expect(one.ids).not.toEqual(two.ids);
  });
});

describe("a completion ends", () => {
  it("at maxTokens", async () => {
    const { ids, finish } = await engine.sample(request({ maxTokens: 7 }));
    expect([ids.length, finish]).toEqual([7, "length"]);
  });

  it("with a stop id, which is part of it", async () => {
    const free = await engine.sample(request());
    const stopId = free.ids[4]!;
    const at = free.ids.indexOf(stopId);
    const { ids, finish } = await engine.sample(request({ stopIds: [stopId] }));
    expect(ids).toEqual(free.ids.slice(0, at + 1));
    expect(finish).toBe("eos");
  });

  it("with the token that completes a stop string, though the string straddles tokens", async () => {
    // Only plain letters are allowed, so that every token is one character of the text.
    const logitBias: Record<number, number> = {};
    const letters = new Set(
      "a b c d e f g h".split(" ").map((each) => engine.tokenizer.encode(each)[0]!),
    );
    for (let id = 0; id < tinyConfig.vocabSize; id++) {
      if (!letters.has(id)) logitBias[id] = -Infinity;
    }
    const free = await engine.sample(request({ logitBias, maxTokens: 30 }));
    const text = engine.tokenizer.decode(free.ids);
    expect(text).toMatch(/^[a-h]{30}$/);
    const stop = text.slice(9, 13);
    const end = text.indexOf(stop) + 4;
    const { ids, finish } = await engine.sample(
      request({ logitBias, maxTokens: 30, stopStrings: ["never", stop] }),
    );
    expect(engine.tokenizer.decode(ids)).toBe(text.slice(0, end));
    expect(finish).toBe("stop");
  });

  it("where the context does", async () => {
    const promptIds = prompt(4, 250);
    const { ids, finish } = await engine.sample(request({ promptIds, maxTokens: 100 }));
    // 250 + 6 fill the 256 positions.
    expect([ids.length, finish]).toEqual([6, "context"]);
    const longest = prompt(4, 255);
    const last = await engine.sample(request({ promptIds: longest, maxTokens: 100 }));
    expect([last.ids.length, last.finish]).toEqual([1, "context"]);
  });

  it("before it begins when the prompt leaves no room", async () => {
    await expect(engine.sample(request({ promptIds: prompt(4, 256) }))).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
    });
    await expect(engine.sample(request({ promptIds: [] }))).rejects.toMatchObject({
      code: "PROMPT_TOO_LONG",
    });
  });
});

describe("the distribution that is drawn from", () => {
  it("is its mode at temperature 0, whatever the seed", async () => {
    const one = await engine.sample(request({ temperature: 0, seed: 1 }));
    const two = await engine.sample(request({ temperature: 0, seed: 2 }));
    expect(two).toEqual(one);
    expect(largestGap(one.logprobs, await scored(request().promptIds, one.ids))).toBeLessThan(1e-4);
    const top = await engine.sample(request({ topK: 1 }));
    expect(top.ids).toEqual(one.ids);
    expect(largestGap(top.logprobs, one.logprobs)).toBeLessThan(1e-6);
  });

  it("leaves nothing but the likeliest when topP is tiny", async () => {
    const greedy = await engine.sample(request({ temperature: 0 }));
    const nucleus = await engine.sample(request({ topP: 1e-6 }));
    expect(nucleus.ids).toEqual(greedy.ids);
  });

  it("never gives an id that the bias forbids, and only the one that it forces", async () => {
    const free = await engine.sample(request());
    const forbidden = Object.fromEntries(free.ids.map((id) => [id, -Infinity]));
    const { ids } = await engine.sample(request({ logitBias: forbidden, maxTokens: 40 }));
    expect(ids.filter((id) => id in forbidden)).toEqual([]);
    const forced = await engine.sample(request({ logitBias: { 123: 1000 }, maxTokens: 3 }));
    expect(forced.ids).toEqual([123, 123, 123]);
    expect(forced.logprobs.every(Number.isFinite)).toBe(true);
  });

  it("sharpens as the temperature falls", async () => {
    const promptIds = prompt(1, 20);
    const warm = await engine.sample(request({ promptIds, maxTokens: 1, temperature: 0.25 }));
    const [plain] = await scored(promptIds, warm.ids);
    expect(warm.logprobs[0]).not.toBeCloseTo(plain!, 3);
  });
});

describe("more sequences than slots", () => {
  it("wait for a place and all finish", async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => engine.sample(request({ seed: i, maxTokens: 3 }))),
    );
    expect(results.every(({ ids }) => ids.length === 3)).toBe(true);
  });
});
