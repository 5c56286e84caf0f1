// A whole GRPO step (sampling, rewards, advantages, one update) against TRL's GRPOTrainer: the shipped base policy, the same
// questions, groups and lengths.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tinyWorld } from "../../dist/worlds/tiny/tiny-world.js";
import { rounded, short } from "../retrieval/rows.mjs";
import { turnsOf, withPlayers } from "./players.mjs";
import { compared, inRounds, median, spread, verdict } from "./rounds.mjs";

const BAR = 5;
const STEP = { prompts: 16, groupSize: 8, newTokens: 64, learningRate: 1e-5 };
/** Sequences that TRL trains together; the fastest counts. */
const MICRO_BATCHES = [128, 32, 8];

export async function measure({ work, python, seconds, rounds }) {
  const folder = join(import.meta.dirname, "../../datasets/base-policy");
  const prompts = await writeQuestions(work);
  const runs = [];
  for (const microBatch of MICRO_BATCHES) {
    console.error(`trl, ${microBatch} sequences trained together`);
    runs.push(rounded(await compare({ folder, prompts, microBatch }, { python, seconds, rounds })));
  }
  return { runs, tables: [table(runs)] };
}

async function writeQuestions(work) {
  await mkdir(work, { recursive: true });
  const world = tinyWorld({ seed: 7, split: "train", people: 1000 });
  const questions = [...world.questions(STEP.prompts)].map(({ question, references }) => {
    return { prompt: `Question: ${question}\n`, references };
  });
  const path = join(work, "questions.json");
  await writeFile(path, JSON.stringify(questions));
  return path;
}

async function compare({ folder, prompts, microBatch }, { python, seconds, rounds }) {
  const settings = JSON.stringify({ ...STEP, folder, prompts, microBatch });
  const script = join(import.meta.dirname, "trl_player.py");
  return withPlayers(
    { ours: ["grpo", settings], theirs: [python, [script, settings]] },
    async ({ ours, theirs }) => {
      if (theirs.status !== "ok") return { ...STEP, microBatch, peer: theirs };
      const turns = {
        agentrl: await turnsOf(ours, {}, seconds),
        trl: await turnsOf(theirs, {}, seconds),
      };
      const found = await inRounds(turns, rounds);
      const parts = Object.fromEntries(
        Object.entries(found).map(([name, entries]) => [name, partsOf(entries)]),
      );
      return {
        ...{ ...STEP, microBatch, version: theirs.ready.version, parts },
        sameTokens:
          parts.agentrl.sampled === parts.trl.sampled &&
          parts.agentrl.computed === parts.trl.computed,
        ...compared(found, BAR),
      };
    },
  );
}

/** Of a step: seconds of sampling, tokens sampled (and trained), tokens computed by the trainer with their prompts. */
function partsOf(entries) {
  return {
    rollout: median(entries.map(({ rollout }) => rollout)),
    sampled: entries.at(-1).sampled,
    computed: entries.at(-1).computed,
  };
}

function table(runs) {
  const head = [
    "",
    "s a step",
    "of it sampling",
    "processor s",
    "tokens",
    "with prompts",
    "busy elsewhere",
  ];
  const rows = runs.flatMap(({ microBatch, contenders = {}, parts, peer }) => {
    const title = `TRL trains ${microBatch} together`;
    if (peer !== undefined) return [[title, peer.status, peer.detail]];
    const cells = Object.entries(contenders).map(([name, each]) => [
      `  ${name}`,
      short(each.seconds),
      short(parts[name].rollout),
      short(each.processorSeconds),
      String(parts[name].sampled),
      String(parts[name].computed),
      `${short(100 * each.mostBusyElsewhere)} %`,
    ]);
    return [[title], ...cells];
  });
  const notes = runs.flatMap(({ microBatch, best, ratio, processorRatio, sameTokens, version }) =>
    ratio === undefined
      ? []
      : [
          `  ${microBatch} together: ${verdict(ratio, best)}; processor time ${spread(processorRatio)}; ${sameTokens ? "the same" : "NOT the same"} tokens; ${version}`,
        ],
  );
  const { prompts, groupSize, newTokens } = STEP;
  const title = `a GRPO step of the base policy, ${prompts} × ${groupSize} completions of ${newTokens} tokens`;
  return { title, rows: [head, ...rows], notes };
}
