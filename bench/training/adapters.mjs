// A training step with adapters of rank 16 on every linear layer (cross-entropy on the second half of each row, AdamW, float32) against
// PyTorch with PEFT: rows of different prompts, and a group of one prompt, which PEFT computes for every row.
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { rounded, short } from "../retrieval/rows.mjs";
import { turnsOf, withPlayers } from "./players.mjs";
import { compared, inRounds, spread, verdict } from "./rounds.mjs";
import { batches, readRows, writeWork } from "./shapes.mjs";

const BAR = 1.3;
const MODEL = "135M";
const PROMPTS = ["different", "group"];
const LORA = { rank: 16, alpha: 32 };
const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01 };

export async function measure({ work, python, seconds, rounds, only = PROMPTS }) {
  const { folder, rows } = await writeWork(work, MODEL);
  const runs = [];
  for (const prompts of PROMPTS) {
    if (!only.includes(prompts)) continue;
    console.error(`adapters, ${prompts}`);
    const path = prompts === "group" ? await withOnePrompt(folder, rows) : rows;
    const settings = JSON.stringify({ folder, rows: path, adam, lora: LORA, warmUp: 2 });
    runs.push(rounded(await compare({ prompts, settings }, { python, seconds, rounds })));
  }
  return { runs, tables: [table(runs)] };
}

/** The rows, each with the first row's first half. */
async function withOnePrompt(folder, path) {
  const rows = await readRows(path);
  const half = rows[0].length >> 1;
  const group = rows.map((row) => [...rows[0].slice(0, half), ...row.slice(half)]);
  const target = join(folder, "group.json");
  await writeFile(target, JSON.stringify(group));
  return target;
}

async function compare({ prompts, settings }, { python, seconds, rounds }) {
  const script = join(import.meta.dirname, "adapters_player.py");
  return withPlayers(
    { ours: ["train", settings], theirs: [python, [script, settings]] },
    async ({ ours, theirs }) => {
      if (theirs.status !== "ok") return { prompts, peer: theirs };
      const turns = {
        agentrl: await turnsOf(ours, {}, seconds),
        peft: await turnsOf(theirs, {}, seconds),
      };
      const bar = prompts === "different" ? BAR : undefined;
      return {
        ...{ prompts, version: theirs.ready.version },
        losses: { agentrl: ours.ready.losses, peft: theirs.ready.losses },
        ...compared(await inRounds(turns, rounds), bar),
      };
    },
  );
}

function table(runs) {
  const { batch, length } = batches[MODEL];
  const head = ["", "tokens/s", "s a step", "processor s", "busy elsewhere"];
  const rows = runs.flatMap(({ prompts, contenders = {}, peer }) => {
    if (peer !== undefined) return [[prompts, peer.status, peer.detail]];
    const cells = Object.entries(contenders).map(([name, each]) => [
      `  ${name}`,
      short((batch * length) / each.seconds),
      short(each.seconds),
      short(each.processorSeconds),
      `${short(100 * each.mostBusyElsewhere)} %`,
    ]);
    return [[prompts], ...cells];
  });
  const notes = runs.flatMap(({ prompts, best, ratio, processorRatio, losses, version }) =>
    ratio === undefined
      ? []
      : [
          `  ${prompts}: ${verdict(ratio, best)}; processor time ${spread(processorRatio)}; first losses ${losses.agentrl[0]} and ${losses.peft[0]}; ${version}`,
        ],
  );
  return {
    title: `steps of ${MODEL} with adapters of rank 16, ${batch} × ${length}, half of them scored`,
    rows: [head, ...rows],
    notes,
  };
}
