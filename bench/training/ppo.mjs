// A PPO step against a GRPO step of the same rollouts: recipe search-r1, a critic with its own decoder and one on the policy's trunk. The
// learning rate is next to nothing, so that all policies draw the same tokens.
import { loadRecipe } from "../../dist/run/settings/recipe-file.js";
import { settingsSchema } from "../../dist/run/settings/settings-schema.js";
import { loadSettings, parseSet, resolveSettings } from "../../dist/run/settings/settings.js";
import { openEngine, openNamedDataset, policyFolder } from "../../dist/run/assemble.js";
import { assembleOnPolicyRun } from "../../dist/run/train/on-policy-run.js";
import { trainOnPolicy } from "../../dist/algorithms/on-policy.js";
import { median } from "./rounds.mjs";

const BARS = { own: 2.2, shared: 1.4 };
const COMMON = "steps: 1000, promptsPerStep: 8, groupSize: 8, optimizer: { learningRate: 1.0e-12 }";
const CONTENDERS = {
  grpo: `{ name: grpo, klCoef: 0, ${COMMON} }`,
  own: `{ name: ppo, critic: { trunk: own }, ${COMMON} }`,
  shared: `{ name: ppo, critic: { trunk: shared }, ${COMMON} }`,
};
/** Steps before the first that counts: shapes are compiled. */
const WARM_UP = 2;

export async function measure({ rounds }) {
  const loops = [];
  for (const [name, algorithm] of Object.entries(CONTENDERS))
    loops.push(await open(name, algorithm));
  const steps = WARM_UP + rounds;
  for (let step = 0; step < steps; step++) {
    for (const loop of loops) await loop.next();
    console.error(`ppo, step ${step + 1} of ${steps}`);
  }
  await Promise.all(loops.map((loop) => loop.close()));
  const [grpo, ...critics] = loops;
  const counted = (loop, part) => loop.steps.slice(WARM_UP).map((each) => part(each.timings));
  const whole = ({ rollout, update }) => rollout + update;
  const ratio = (loop, part) =>
    median(counted(loop, part).map((each, i) => each / counted(grpo, part)[i]));
  const sampled = loops.map((loop) => loop.steps.map(({ tokens }) => tokens.sampled).join());
  const runs = critics.map((loop) => ({
    critic: loop.name,
    ...{ step: ratio(loop, whole), update: ratio(loop, ({ update }) => update) },
    bar: BARS[loop.name],
  }));
  const seconds = median(counted(grpo, whole)) / 1000;
  return {
    ...{ runs, sameTokens: new Set(sampled).size === 1, grpoSeconds: seconds },
    tables: [
      {
        title: `a PPO step ÷ a GRPO step (${seconds.toFixed(2)} s), 64 trajectories, ${rounds} rounds in turn`,
        rows: [
          ["critic", "whole step", "update alone", "bar of a step"],
          ...runs.map(({ critic, step, update, bar }) => [
            ...[critic, step.toFixed(2), update.toFixed(2), `${bar} ×`],
          ]),
        ],
        notes: [`same tokens drawn: ${new Set(sampled).size === 1}`],
      },
    ],
  };
}

/** A training that makes a step whenever it is asked to. */
async function open(name, algorithm) {
  const recipe = await loadRecipe("search-r1");
  const overrides = [parseSet(`algorithm=${algorithm}`)];
  const { settings } = await loadSettings(
    settingsSchema,
    resolveSettings(recipe, { tier: "mini", overrides }),
  );
  const model = await policyFolder(settings.policy.from);
  const engine = await openEngine(settings, model);
  const train = await openNamedDataset(settings.dataset, settings.environment);
  const { signal } = new AbortController();
  const asked = { algorithm: settings.algorithm, engine, train, model, signal };
  const { run, close } = await assembleOnPolicyRun(settings, asked);
  const steps = [];
  let [wanted, made] = [deferred(), deferred()];
  let over = false;
  const training = trainOnPolicy({
    ...run,
    firstStep: 0,
    onStepBegin: () => wanted.promise,
    onStep: (step) => {
      steps.push(step);
      wanted = deferred();
      made.resolve();
      return Promise.resolve(!over);
    },
  });
  return {
    ...{ name, steps },
    async next() {
      made = deferred();
      wanted.resolve();
      await Promise.race([made.promise, training]);
    },
    async close() {
      over = true;
      wanted.resolve();
      await training;
      await close();
      await engine.close();
    },
  };
}

/** A promise and what settles it (Node 20 has no Promise.withResolvers). */
function deferred() {
  let resolve;
  const promise = new Promise((given) => (resolve = given));
  return { promise, resolve };
}
