import { describe, expect, it } from "vitest";
import type { Engine, TrainingRow } from "../../src/engine/engine.ts";
import type { Sample } from "../../src/trajectory/sample.ts";
import type { Segment, Trajectory } from "../../src/trajectory/trajectory.ts";
import {
  type LearnedSample,
  readSample,
  type SampleReading,
  trainingRow,
} from "../../src/algorithms/sample-rows.ts";
import {
  samplesLoss,
  sftSamplesSchema,
  type SftStep,
  trainOnSamples,
} from "../../src/algorithms/sft.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered, task, tokenizer } from "../helpers/search-world.ts";

const reading: SampleReading = {
  student: { tokenizer },
  hints: "learn",
  lines: "main",
  maxTokens: 100,
  drawnWith: null,
};
const segment = (owner: Segment["owner"], ...ids: number[]): Segment => {
  return { owner, ids, logprobs: null };
};
const call = (parent: number | null, prompt: Segment[], completion: Segment[]) => {
  const made = { role: "policy", policyVersion: 0, finish: "stop" } as const;
  return { ...made, parent, prompt, completion };
};
const turn = (of: number, chain?: string): Trajectory["turns"][number] => ({
  call: of,
  text: "",
  actions: [],
  problems: [],
  observations: [],
  chain,
});
const sample = (changes: Partial<Trajectory>, weight = 1): Sample => ({
  id: "s",
  task,
  weight,
  scores: {},
  trajectory: answered("x", changes),
  provenance: {} as Sample["provenance"],
});

/** Prompt 31 32, policy 33 34, observation 35, policy 36. */
const chat = sample({
  calls: [
    call(null, [segment("template", 31, 32)], [segment("policy", 33, 34)]),
    call(0, [segment("environment", 35)], [segment("policy", 36)]),
  ],
  turns: [turn(0), turn(1)],
});

describe("readSample", () => {
  it("learns the policy's tokens, marks what was shown, and counts positions and learned tokens", () => {
    expect(readSample(chat, reading, "a:1")).toEqual({
      id: "s",
      weight: 1,
      learned: 3,
      tokens: 5,
      rows: [
        {
          ids: Int32Array.from([31, 32, 33, 34, 35, 36]),
          marks: Uint8Array.from([0, 0, 1, 1, 2, 1]),
        },
      ],
    });
  });

  it("learns a share of the prompts before the last, the same ones each time", () => {
    const calls = Array.from({ length: 400 }, (_, i) =>
      call(null, [segment("template", 31)], [segment("policy", i === 399 ? 33 : 32)]),
    );
    const chain = sample({ calls, turns: calls.map((_, i) => turn(i)) });
    const rowsOf = (earlierPrompts: number): string[] => {
      const read = readSample(chain, { ...reading, earlierPrompts }, "a:1") as LearnedSample;
      expect(read.learned).toBe(read.rows.length);
      return read.rows.map(({ ids }) => ids.join(" "));
    };
    expect(rowsOf(0)).toEqual(["31 33"]);
    expect(rowsOf(1)).toHaveLength(400);
    const fifth = rowsOf(0.2);
    expect(fifth.length).toBeGreaterThan(50);
    expect(fifth.length).toBeLessThan(120);
    expect(fifth.at(-1)).toBe("31 33");
    expect(rowsOf(0.2)).toEqual(fifth);
  });

  it("makes a row of every prompt that was built anew, and learns what branches share once", () => {
    const branched = sample({
      calls: [
        call(null, [segment("template", 31)], [segment("policy", 32)]),
        call(0, [segment("environment", 33)], [segment("policy", 34)]),
        call(0, [segment("environment", 35)], [segment("policy", 36)]),
        call(null, [segment("template", 37)], [segment("policy", 38)]),
      ],
      turns: [turn(0), turn(1), turn(2), turn(3)],
    });
    const read = readSample(branched, reading, "a:1") as LearnedSample;
    expect(read.rows.map(({ ids }) => [...ids])).toEqual([
      [31, 32, 33, 34],
      [31, 32, 35, 36],
      [37, 38],
    ]);
    expect(read.rows.map(({ marks }) => [...marks])).toEqual([
      [0, 1, 2, 1],
      [0, 0, 2, 1],
      [0, 1],
    ]);
    expect(read).toMatchObject({ learned: 4, tokens: 7 });
  });

  it("learns no drafts, unless all lines are to be learned", () => {
    const drafted = sample({
      calls: [
        call(null, [segment("template", 31)], [segment("policy", 32)]),
        call(null, [segment("template", 31)], [segment("policy", 33)]),
      ],
      turns: [turn(0, "draft-1"), turn(1)],
    });
    const rows = (lines: "main" | "all"): number[][] => {
      const read = readSample(drafted, { ...reading, lines }, "a:1") as LearnedSample;
      return read.rows.map(({ ids }) => [...ids]);
    };
    expect(rows("main")).toEqual([[31, 33]]);
    expect(rows("all")).toEqual([
      [31, 32],
      [31, 33],
    ]);
  });

  it("takes a sequence that just fits, and cuts none that does not", () => {
    expect(readSample(chat, { ...reading, maxTokens: 5 }, "a:1")).toHaveProperty("rows");
    const short = { ...reading, maxTokens: 4 };
    expect(readSample(chat, short, "a:1")).toEqual({ reason: "too-long", tokens: 5 });
  });

  it("says when the policy wrote nothing, and what line is no trajectory", () => {
    const idle = sample({ calls: [call(null, [segment("template", 31)], [])], turns: [turn(0)] });
    expect(readSample(idle, reading, "a:1")).toEqual({ reason: "nothing-to-learn" });
    const broken = sample({ calls: [{}] as unknown as Trajectory["calls"] });
    expect(() => readSample(broken, reading, "a.jsonl:7")).toThrow(
      errorWith("DATA_BAD_RECORD", /^a\.jsonl:7: /),
    );
  });
});

describe("trainingRow", () => {
  it("shifts by one and weighs learned and shown tokens, never a prompt", () => {
    const { rows } = readSample(chat, reading, "a:1") as LearnedSample;
    expect(trainingRow(rows[0]!, { learned: 0.5, shown: 0.1 })).toEqual({
      inputs: [31, 32, 33, 34, 35],
      targets: [32, 33, 34, 35, 36],
      fields: { weights: [0, 0.5, 0.5, 0.1, 0.5] },
    });
  });
});

/** An engine in whose model every target has the log-probability −id / 100. */
function recordingEngine(): { engine: Engine; batches: (readonly TrainingRow[])[] } {
  const batches: (readonly TrainingRow[])[] = [];
  const scores = (rows: readonly TrainingRow[]) =>
    rows.map(({ targets, fields: { weights } }) =>
      Float32Array.from(targets, (id, i) => (weights[i] === 0 ? NaN : -id / 100)),
    );
  const engine: Partial<Engine> = {
    logprobs: (rows) => Promise.resolve(scores(rows)),
    forwardBackward: (rows) => {
      batches.push(rows);
      return Promise.resolve({ loss: 7, logprobs: scores(rows), metrics: {} });
    },
    optimStep: () => Promise.resolve({ gradNorm: 1 }),
  };
  return { engine: engine as Engine, batches };
}

/** A sample of `learned` tokens 50, the first after a prompt of one token; the last is shown where asked for. */
const ofTokens = (learned: number, weight = 1, shown = 0): LearnedSample => {
  const ids = Int32Array.from([
    1,
    ...Array<number>(learned).fill(50),
    ...Array<number>(shown).fill(9),
  ]);
  const marks = Uint8Array.from(ids, (id) => (id === 50 ? 1 : id === 9 ? 2 : 0));
  return { id: "s", weight, rows: [{ ids, marks }], learned, tokens: ids.length - 1 };
};

async function weightsOf(settings: object, samples: LearnedSample[]): Promise<number[][]> {
  const { engine, batches } = recordingEngine();
  await trainOnSamples({
    engine,
    settings: sftSamplesSchema.parse(settings),
    samples,
    firstStep: 0,
    batches: [samples.map((_, i) => i)],
    signal: new AbortController().signal,
    onStep: () => Promise.resolve(true),
  });
  return (batches[0] ?? []).map(({ fields }) => [...fields.weights]);
}

describe("the loss of a batch", () => {
  it("is the mean over its learned tokens, shown ones at their weight beside", async () => {
    const settings = { observationWeight: 0.2 };
    // Three learned tokens: 1/3 each, and .2/3 for what was shown.
    expect(await weightsOf(settings, [ofTokens(1), ofTokens(2, 1, 1)])).toEqual([
      [1 / 3],
      [1 / 3, 1 / 3, 0.2 / 3],
    ]);
  });

  it("weighs samples beside their mean weight, so that the scale of weights does not matter", async () => {
    // The mean weight is 2: samples count ½ and 1½, over 3 learned tokens.
    const expected = [[0.5 / 3], [1.5 / 3, 1.5 / 3]];
    expect(await weightsOf({}, [ofTokens(1, 1), ofTokens(2, 3)])).toEqual(expected);
    expect(await weightsOf({}, [ofTokens(1, 10), ofTokens(2, 30)])).toEqual(expected);
    const plain = await weightsOf({ weighted: false }, [ofTokens(1, 1), ofTokens(2, 3)]);
    expect(plain).toEqual([[1 / 3], [1 / 3, 1 / 3]]);
  });

  it("is the mean of its samples' own means where asked for", async () => {
    const settings = { lossAggregation: "sample-mean" };
    // Two samples: ½ each; the second's is shared by its two tokens. Weights ½ and 1½.
    expect(await weightsOf(settings, [ofTokens(1), ofTokens(2)])).toEqual([[0.5], [0.25, 0.25]]);
    expect(await weightsOf(settings, [ofTokens(1, 1), ofTokens(2, 3)])).toEqual([
      [0.25],
      [0.375, 0.375],
    ]);
  });

  it("is told without weights, beside what was minimised", async () => {
    const steps: SftStep[] = [];
    const { engine } = recordingEngine();
    await trainOnSamples({
      engine,
      settings: sftSamplesSchema.parse({ observationWeight: 1 }),
      firstStep: 1,
      samples: [ofTokens(1, 5), ofTokens(2, 1, 1)],
      batches: [[], [0, 1], [0]],
      signal: new AbortController().signal,
      onStep: (step) => Promise.resolve(steps.push(step) < 1),
    });
    // All learned tokens have −.5; it ends when told to.
    expect(steps).toEqual([
      { step: 2, loss: expect.closeTo(0.5, 6) as number, objective: 7, gradNorm: 1, tokens: 4 },
    ]);
  });
});

describe("samplesLoss", () => {
  it("is the mean over all learned tokens, whatever the samples' weights", async () => {
    const { engine } = recordingEngine();
    const { signal } = new AbortController();
    const { rows } = readSample(chat, reading, "a:1") as LearnedSample;
    const mixed = [{ ...ofTokens(1, 9), rows }, ofTokens(2)].map((each, i) =>
      i === 0 ? { ...each, learned: 3 } : each,
    );
    // (.33 + .34 + .36 + .5 + .5) / 5
    expect(await samplesLoss(engine, mixed, signal)).toBeCloseTo(0.406, 6);
  });
});
