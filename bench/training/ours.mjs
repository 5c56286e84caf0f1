// node bench/training/ours.mjs TASK JSON: the local engine as a contender; one JSON line when ready, one for every line given.
import { openLocalEngine } from "../../dist/engine/local/local-engine.js";
import { targetModules } from "../../dist/models/lora/target-modules.js";
import { grpoTurn } from "./ours-grpo.mjs";
import { play } from "./play.mjs";
import { readRows } from "./shapes.mjs";

const [task, given] = process.argv.slice(2);
const settings = JSON.parse(given);
const { folder, lora, samplingWeights } = settings;
const adapters = { ...lora, rslora: false, targets: targetModules, seed: 1 };
const engine = await openLocalEngine({
  ...{ model: folder, trains: task !== "generate" },
  ...(samplingWeights === undefined ? {} : { samplingWeights }),
  ...(lora === undefined ? {} : { lora: adapters }),
});
const tasks = { train, generate, grpo: grpoTurn };
const { ready, turn } = await tasks[task](settings, engine);
await play(ready, turn);
await engine.close();

/** With adapters the second half of each row is scored, else all of it. */
async function train({ rows: path, adam, warmUp, lora }) {
  const ids = await readRows(path);
  const rows = ids.map((each) => {
    const targets = each.slice(1);
    const unscored = lora === undefined ? 0 : targets.length >> 1;
    const weight = 1 / (ids.length * (targets.length - unscored));
    const weights = targets.map((_, i) => (i < unscored ? 0 : weight));
    return { inputs: each.slice(0, -1), targets, fields: { weights } };
  });
  const turn = async () => {
    const { loss } = await engine.forwardBackward(rows, { name: "cross-entropy", options: {} });
    await engine.optimStep({ ...adam, gradClipNorm: Infinity });
    return { loss };
  };
  const losses = [];
  for (let i = 0; i < warmUp; i++) losses.push((await turn()).loss);
  return { ready: { losses, threads: engine.workers }, turn };
}

async function generate({ prompts: path, newTokens }) {
  const given = await readRows(path);
  let [turns, seed] = [0, 0];
  const turn = async () => {
    // New prompts in each turn: the engine copies a prompt that it computed before. Alike ones stay alike.
    const prompts = given.map(([first, ...rest]) => [first + turns, ...rest]);
    turns += 1;
    const results = await Promise.all(
      prompts.map((promptIds) =>
        engine.sample({
          ...{ promptIds, maxTokens: Math.max(1, newTokens), stopIds: [], stopStrings: [] },
          ...{ temperature: 1, topP: 1, topK: 0, seed: seed++, sequence: null },
        }),
      ),
    );
    return { tokens: results.reduce((sum, { ids }) => sum + ids.length, 0) };
  };
  await turn();
  return { ready: { threads: engine.workers }, turn };
}
