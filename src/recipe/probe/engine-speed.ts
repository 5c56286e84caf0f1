import type { Engine } from "../../engine/engine.ts";
import { capacityFor } from "../../engine/local/cached-steps.ts";
import type { SamplingSpeed } from "./sampling-cost.ts";

/** Seconds since whenever: of the wall, or of the processor where other programs want it as well. */
export type Clock = () => number;

/** What is measured of an engine that is opened. */
export interface MeasuredEngine {
  engine: Engine;
  workers: number;
  slots: number;
  /** Ids that the model has. */
  vocabulary: number;
  clock: Clock;
}

/** Tokens of messages, whose difference is steps alone. */
const SHORT = 2;
const LONG = 10;
/** Tokens of prompts that are run in pieces of 16 and of 128. */
const SHORT_PROMPT = 10;
const LONG_PROMPT = 100;

/**
 * Measures sampling with all slots of all workers busy: prompts of several lengths, and messages of several lengths after one prompt.
 * The first of each compiles its graph and is measured apart. The cache stays as short as that allows.
 */
export async function measureSampling(measured: MeasuredEngine): Promise<SamplingSpeed> {
  const first = await timed(measured.clock, () => fillAll(measured, LONG_PROMPT, 1));
  const fill128 = await best(measured.clock, () => fillAll(measured, LONG_PROMPT, 2));
  const firstShort = await timed(measured.clock, () => fillAll(measured, SHORT_PROMPT, 3));
  const fill16 = await best(measured.clock, () => fillAll(measured, SHORT_PROMPT, 4));
  const step = await stepSeconds(measured);
  const perToken = Math.max(0, (fill128 - fill16) / (128 - 16));
  return {
    step: { base: step, perPosition: 0 },
    // A request ends with one step.
    fill: { base: Math.max(0, fill16 - step - 16 * perToken), perToken },
    compile: Math.max(0, (first - fill128 + (firstShort - fill16)) / 3),
    factor: 1,
  };
}

/**
 * Measures steps again with the cache at the length of the longest sequence to be expected, and how their time grows with it.
 * @param speed is changed.
 */
export async function measureLongCache(
  measured: MeasuredEngine,
  speed: SamplingSpeed,
  positions: number,
): Promise<void> {
  const short = capacityFor(LONG_PROMPT + LONG);
  const long = capacityFor(positions);
  if (long <= short) return;
  await fillAll(measured, positions - 2, 5);
  const step = await stepSeconds(measured);
  const perPosition = Math.max(0, (step - speed.step.base) / (long - short));
  speed.step = { base: Math.max(0, speed.step.base - perPosition * short), perPosition };
}

/** Seconds of a step: of more tokens less fewer, after a prompt that all share. */
async function stepSeconds(measured: MeasuredEngine): Promise<number> {
  const short = await best(measured.clock, () => writeAll(measured, SHORT));
  const long = await best(measured.clock, () => writeAll(measured, LONG));
  return Math.max(1e-6, (long - short) / (LONG - SHORT));
}

/** One request to each worker, each with a prompt of its own, for one token. */
async function fillAll(measured: MeasuredEngine, tokens: number, seed: number): Promise<void> {
  const { workers } = measured;
  await Promise.all(
    Array.from({ length: workers }, (_, w) =>
      sample(measured, promptOf(measured, tokens, seed * workers + w), 1),
    ),
  );
}

/** One request to each slot, all with one prompt. */
async function writeAll(measured: MeasuredEngine, maxTokens: number) {
  const prompt = promptOf(measured, SHORT_PROMPT, 0);
  const { workers, slots } = measured;
  await Promise.all(
    Array.from({ length: workers * slots }, () => sample(measured, prompt, maxTokens)),
  );
}

async function sample({ engine }: MeasuredEngine, promptIds: number[], maxTokens: number) {
  await engine.sample({
    ...{ promptIds, maxTokens, stopIds: [], stopStrings: [] },
    ...{ temperature: 1, topP: 1, topK: 0, seed: 1, sequence: null },
  });
}

let serial = 0;

/** Ids that no earlier prompt had, where it is not to be shared. */
function promptOf({ vocabulary }: MeasuredEngine, tokens: number, seed: number): number[] {
  serial += seed === 0 ? 0 : 1;
  return Array.from(
    { length: tokens },
    (_, i) => (7 * i + 13 * seed + serial * (i + 1)) % vocabulary,
  );
}

async function best(clock: Clock, work: () => Promise<void>): Promise<number> {
  return Math.min(await timed(clock, work), await timed(clock, work));
}

/** Seconds of some work. */
export async function timed(clock: Clock, work: () => Promise<unknown>): Promise<number> {
  const begun = clock();
  await work();
  return clock() - begun;
}
