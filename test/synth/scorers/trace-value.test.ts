import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { sampleScorers } from "../../../src/synth/scorers/index.ts";
import { type Judge, finalised, pruned } from "../../../src/synth/scorers/trace-value.ts";
import type { SampleResult } from "../../../src/engine/engine.ts";
import { errorWith } from "../../helpers/error-with.ts";
import {
  answered,
  replay,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../../helpers/search-world.ts";

const settings = { cues: ["Wait"], threshold: 0.5, pruned: 2, tolerance: 1 };
const TRACE = ["A.", " Wait. B.", " Wait. C."].flatMap((text) => text.split(/(?<=\.)(?= )/));

function judge(changes: Partial<Judge>): Judge {
  return {
    share: () => Promise.resolve(0),
    isRight: () => Promise.resolve(true),
    rest: () => Promise.resolve(-1),
    ...changes,
  };
}

describe("finalised", () => {
  // A. | Wait. B. | Wait. C.
  const shares = new Map([
    [1, 0.5],
    [3, 0.75],
    [5, 1],
  ]);

  it("ends at the earliest cut before a cue whose share right is above the threshold", async () => {
    const asked: number[] = [];
    const share = (left: readonly string[]): Promise<number> => {
      asked.push(left.length);
      return Promise.resolve(shares.get(left.length) ?? NaN);
    };
    expect(await finalised(TRACE, settings, judge({ share }))).toEqual({ end: 3, value: 0.75 });
    expect(asked).toEqual([1, 3]);
  });

  it("goes on where the greedy answer is wrong, and finds nothing where no cut is good enough", async () => {
    const share = (left: readonly string[]) => Promise.resolve(shares.get(left.length) ?? NaN);
    const isRight = (left: readonly string[]) => Promise.resolve(left.length !== 3);
    expect(await finalised(TRACE, settings, judge({ share, isRight }))).toEqual({
      end: 5,
      value: 1,
    });
    expect(await finalised(TRACE, settings, judge({}))).toBeNull();
  });

  it("cuts before each sentence without cues", async () => {
    const share = (left: readonly string[]) => Promise.resolve(left.length === 2 ? 1 : 0);
    const found = await finalised(TRACE, { ...settings, cues: [] }, judge({ share }));
    expect(found).toEqual({ end: 2, value: 1 });
  });
});

describe("pruned", () => {
  const likelihood =
    (needed: string) =>
    (left: readonly string[]): Promise<number> =>
      Promise.resolve(left.join("").includes(needed) ? -1 : -9);

  it("takes out the longest pattern without which the rest is as likely", async () => {
    const kept = await pruned(TRACE, 5, settings, judge({ rest: likelihood("A") }));
    expect(kept).toEqual([true, false, false, false, false]);
  });

  it("keeps what the rest needs, and what the greedy answer needs", async () => {
    const rest = (left: readonly string[], following: readonly string[]): Promise<number> =>
      Promise.resolve(following.length > 0 && !left.join("").includes("B") ? -9 : -1);
    expect(await pruned(TRACE, 5, settings, judge({ rest }))).toEqual([
      ...[true, false, true],
      ...[false, false],
    ]);
    const isRight = (left: readonly string[]) => Promise.resolve(left.join("").includes("C"));
    expect(await pruned(TRACE, 5, settings, judge({ isRight }))).toEqual([
      ...[true, false, false],
      ...[false, true],
    ]);
  });

  it("leaves out what came after the end, and never every sentence", async () => {
    expect(await pruned(TRACE, 3, { ...settings, pruned: 0 }, judge({}))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    expect(await pruned([" Wait."], 1, settings, judge({}))).toEqual([true]);
  });
});

describe("trace-value", () => {
  const MESSAGE = "<think> the capital. Wait. of Norway.</think><answer> Lima</answer>";
  const environment = searchEnvironment();
  const signal = new AbortController().signal;

  /** Answers Oslo once it has read the capital. */
  const teacher = {
    ...replay([]),
    complete: ({ promptIds }: { promptIds: readonly number[] }): Promise<SampleResult> => {
      const read = tokenizer.decode([...promptIds]);
      const text = read.includes("> the capital.") ? " Oslo</answer>" : " Lima</answer>";
      const ids = tokenizer.encode(text);
      return Promise.resolve({ ids, logprobs: ids.map(() => 0), finish: "stop" } as never);
    },
    logprobs: (_: readonly number[], ids: readonly number[]) => Promise.resolve(ids.map(() => -1)),
  };

  it("tells where the trace could have ended, and both sides' tokens and answers", async () => {
    const scorer = sampleScorers.get("trace-value", "test");
    const options = scorer.options.parse({ continuations: 2 });
    const trajectory = await rollOut(rolloutOptions({ policy: replay([MESSAGE]) }));
    const scores = await scorer
      .open(options, { policy: teacher, environment, seed: 1 })
      .score(task, trajectory, signal);
    const edited = "<think> the capital.</think><answer> Oslo</answer>";
    expect(scores).toEqual({
      "prefix-value": 1,
      "original-right": 0,
      "edited-right": 1,
      "original-tokens": tokenizer.encode(MESSAGE).length,
      "edited-tokens": tokenizer.encode(edited).length,
      ...{ "kept-0": 1, "kept-1": 0, "kept-2": 0 },
    });
  });

  it("says nothing of a trajectory with several messages, and refuses a teacher without likelihoods", async () => {
    const scorer = sampleScorers.get("trace-value", "test");
    const opened = scorer.open(scorer.options.parse({}), { policy: teacher, environment, seed: 1 });
    expect(await opened.score(task, answered("Oslo"), signal)).toEqual({});
    const silent = { policy: replay([]), environment, seed: 1 };
    expect(() => scorer.open(scorer.options.parse({}), silent)).toThrow(
      errorWith("STRATEGY_NEEDS_LOGPROBS", "synth.scores (trace-value)"),
    );
  });
});
