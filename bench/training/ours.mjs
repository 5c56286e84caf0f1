// node bench/training/ours.mjs TASK JSON: the local engine as a contender; one JSON line when ready, one for every line given.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { openLocalEngine } from "../../dist/engine/local/local-engine.js";
import { grpoTurn } from "./ours-grpo.mjs";

const [task, given] = process.argv.slice(2);
const settings = JSON.parse(given);
const engine = await openLocalEngine({ model: settings.folder });
const tasks = { train, generate, grpo: grpoTurn };
const { ready, turn } = await tasks[task](settings, engine);
say(ready);
for await (const line of createInterface({ input: process.stdin })) {
  const { times = 1 } = JSON.parse(line);
  const [wall, processor] = [performance.now(), process.cpuUsage()];
  let more;
  for (let i = 0; i < times; i++) more = await turn();
  const seconds = (performance.now() - wall) / 1000 / times;
  const { user, system } = process.cpuUsage(processor);
  say({ ...more, seconds, processorSeconds: (user + system) / 1e6 / times });
}
await engine.close();

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function train({ rows: path, adam, warmUp }) {
  const ids = JSON.parse(await readFile(path, "utf8"));
  const weight = 1 / ids.reduce((sum, each) => sum + each.length - 1, 0);
  const rows = ids.map((each) => ({
    ...{ inputs: each.slice(0, -1), targets: each.slice(1) },
    fields: { weights: new Array(each.length - 1).fill(weight) },
  }));
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
  const prompts = JSON.parse(await readFile(path, "utf8"));
  let seed = 0;
  const turn = async () => {
    const results = await Promise.all(
      prompts.map((promptIds) =>
        engine.sample({
          ...{ promptIds, maxTokens: newTokens, stopIds: [], stopStrings: [] },
          ...{ temperature: 1, topP: 1, topK: 0, seed: seed++, sequence: null },
        }),
      ),
    );
    return { tokens: results.reduce((sum, { ids }) => sum + ids.length, 0) };
  };
  await turn();
  return { ready: { threads: engine.workers }, turn };
}
