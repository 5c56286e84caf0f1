// Sampling as a user has it: prompts first, then tokens, all sequences together.
import { random } from "../../dist/base/random.js";
import { openLocalEngine } from "../../dist/engine/local/local-engine.js";
import { seconds } from "./rows.mjs";

/** The second request of a sequence goes on from its cache: the first measures prompts, the second decoding alone. */
export async function sample(job, report) {
  const { device, model, work } = job;
  const { sequences, prompt, fresh } = work.sampling;
  const [engine, openSeconds] = await seconds(() =>
    openLocalEngine({ model, device, slots: sequences, workers: 1 }),
  );
  const { vocabSize } = engine.config;
  const begun = performance.now();
  let [first, best] = [null, null];
  for (let round = 0; round < 2 || performance.now() - begun < 1000 * job.seconds; round++) {
    const draw = random(round);
    const prompts = Array.from({ length: sequences }, () =>
      Array.from({ length: prompt }, () => draw.int(vocabSize)),
    );
    const names = prompts.map((_, i) => `${round}/${i}`);
    const [begin, filling] = await seconds(() => sampleAll(engine, prompts, 1, names));
    await engine.traffic();
    const longer = prompts.map((ids, i) => [...ids, ...begin[i].ids]);
    const [written, decoding] = await seconds(() => sampleAll(engine, longer, fresh, names));
    const crossed = await engine.traffic();
    for (const name of names) engine.forget(name);
    const steps = Math.max(...written.map(({ ids }) => ids.length));
    const found = { filling, decoding, steps, crossed };
    first ??= found;
    // The first round builds the sessions.
    if (round > 0 && decoding < (best?.decoding ?? Infinity)) best = found;
  }
  await engine.close();
  const { filling, decoding, steps, crossed } = best;
  report({
    ...{ device, sequences, prompt, fresh: steps, openSeconds },
    buildSeconds: Math.max(0, first.filling + first.decoding - filling - decoding),
    prefillTokensPerSecond: (sequences * prompt) / filling,
    tokensPerSecond: (sequences * steps) / decoding,
    togetherTokensPerSecond: (sequences * (steps + 1)) / (filling + decoding),
    stepSeconds: decoding / steps,
    crossing:
      device === "webgpu"
        ? { toDevice: crossed.toDevice / steps, fromDevice: crossed.fromDevice / steps }
        : null,
  });
}

function sampleAll(engine, prompts, maxTokens, names) {
  return Promise.all(
    prompts.map((promptIds, i) =>
      engine.sample({
        ...{ promptIds, maxTokens, stopIds: [], stopStrings: [], temperature: 1, topP: 1, topK: 0 },
        ...{ seed: i, sequence: names[i] },
      }),
    ),
  );
}
