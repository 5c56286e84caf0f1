// A training step (forward, backward, AdamW; cross-entropy on every token; float32) against PyTorch eager.
import { join } from "node:path";
import { rounded, short } from "../retrieval/rows.mjs";
import { turnsOf, withPlayers } from "./players.mjs";
import { compared, inRounds, spread, verdict } from "./rounds.mjs";
import { batches, writeWork } from "./shapes.mjs";

/** Of small models, and of one whose products outweigh everything else. */
const BAR = 1.5;
const LARGE_BAR = 1;
/** Steps before the clock starts; their losses show whether both compute the same. */
const WARM_UP = 4;
const LARGE_WARM_UP = 2;
const adam = { learningRate: 1e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };

export async function measure({ work, python, seconds, rounds, only = Object.keys(batches) }) {
  const runs = [];
  for (const model of Object.keys(batches).filter((name) => only.includes(name))) {
    console.error(`pytorch, ${model}`);
    runs.push(rounded(await compare(model, { work, python, seconds, rounds })));
  }
  return { runs, tables: [table(runs)] };
}

async function compare(model, { work, python, seconds, rounds }) {
  const { folder, rows, parameters } = await writeWork(work, model);
  const large = model === "135M";
  // A large model's variants would not fit beside each other: only the fused optimizer runs, which is the faster one.
  const [warmUp, fusedOnly] = large ? [LARGE_WARM_UP, true] : [WARM_UP, false];
  const settings = JSON.stringify({ folder, rows, adam, warmUp, fusedOnly });
  const { batch, length } = batches[model];
  const facts = { model, parameters, batch, length };
  const script = join(import.meta.dirname, "pytorch_player.py");
  return withPlayers(
    { ours: ["train", settings], theirs: [python, [script, settings]] },
    async ({ ours, theirs }) => {
      if (theirs.status !== "ok") return { ...facts, peer: theirs };
      const { losses, version, threads } = theirs.ready;
      const turns = { agentrl: await turnsOf(ours, {}, seconds) };
      for (const variant of Object.keys(losses)) {
        turns[variant] = await turnsOf(theirs, { variant }, seconds);
      }
      return {
        ...{ ...facts, version, threads: { agentrl: ours.ready.threads, peer: threads } },
        losses: { agentrl: ours.ready.losses, ...losses },
        largestDifference: largestDifference(ours.ready.losses, Object.values(losses)),
        ...compared(await inRounds(turns, rounds), large ? LARGE_BAR : BAR),
      };
    },
  );
}

/** Of the mean loss a token, at any of the steps before the clock starts: the same weights, rows and optimiser. */
function largestDifference(ours, theirs) {
  return Math.max(...theirs.flatMap((losses) => losses.map((loss, i) => Math.abs(loss - ours[i]))));
}

function table(runs) {
  const head = ["", "tokens/s", "ms a step", "processor ms", "busy elsewhere", "version"];
  const rows = runs.flatMap(({ model, batch, length, contenders = {}, peer, version }) => {
    const title = `${model}, ${batch} × ${length}`;
    if (peer !== undefined) return [[title, peer.status, peer.detail]];
    const cells = Object.entries(contenders).map(([name, each]) => [
      `  ${name}`,
      short((batch * length) / each.seconds),
      short(1000 * each.seconds),
      short(1000 * each.processorSeconds),
      `${short(100 * each.mostBusyElsewhere)} %`,
      name === "agentrl" ? "" : version,
    ]);
    return [[title], ...cells];
  });
  const notes = runs.flatMap(({ model, best, ratio, processorRatio, largestDifference: off }) =>
    ratio === undefined
      ? []
      : [
          `  ${model}: ${verdict(ratio, best)}; processor time ${spread(processorRatio)}; losses differ by ${off} at most`,
        ],
  );
  return { title: "training steps, both cores", rows: [head, ...rows], notes };
}
