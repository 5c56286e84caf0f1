// Rows to learn from, and runs timed for so many seconds.
import { random } from "../../dist/base/random.js";

/** GRPO's loss, with its penalty towards a reference. */
export const policyGradient = { name: "policy-gradient", options: { klCoef: 0.001 } };

/** Small steps: what is timed should not change while it is timed. */
export const adam = {
  ...{ learningRate: 1e-6, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 },
  ...{ weightDecay: 0.01, gradClipNorm: 1 },
};

/** @param logprobs of each row's targets, NaN where none is known; all that of a uniform draw when absent. */
export function policyRows(vocabSize, { rows, length }, logprobs) {
  const draw = random("rows");
  const scored = rows * Math.floor(length / 2);
  return Array.from({ length: rows }, (_, row) => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(vocabSize));
    const own = (value) =>
      Array.from({ length }, (__, i) => (i < Math.ceil(length / 2) ? 0 : value(i)));
    const known = own((i) => logprobs?.[row][i] ?? -Math.log(vocabSize));
    return {
      inputs: ids.slice(0, -1),
      targets: ids.slice(1),
      fields: {
        weights: own(() => 1 / scored),
        advantages: own(() => (row % 2 === 0 ? 1 : -1)),
        ...{ oldLogprobs: known, refLogprobs: known },
      },
    };
  });
}

/** Runs as often as begins within so many seconds, once at least. Seconds of the best and of the median run. */
export async function timedFor(seconds, work) {
  const times = [];
  const begun = performance.now();
  do {
    const start = performance.now();
    await work(times.length);
    times.push((performance.now() - start) / 1000);
  } while (performance.now() - begun < 1000 * seconds);
  const sorted = times.toSorted((a, b) => a - b);
  return { best: sorted[0], median: sorted[Math.floor(sorted.length / 2)], runs: times.length };
}

/** Seconds that something took, beside its result. */
export async function seconds(work) {
  const start = performance.now();
  const result = await work();
  return [result, (performance.now() - start) / 1000];
}
