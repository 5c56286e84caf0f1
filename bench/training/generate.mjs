// Sampling at temperature 1, sequences together, no end before the length is full: transformers' generate, and llama.cpp's
// batched decode, which draws no tokens.
import { join } from "node:path";
import { rounded, short } from "../retrieval/rows.mjs";
import { startPlayer, turnsOf, withPlayers } from "./players.mjs";
import { compared, inRounds, spread, verdict } from "./rounds.mjs";
import { writePrompts, writeWork } from "./shapes.mjs";

const SMALL = { sequences: 64, promptTokens: 64, newTokens: 128, bar: 5 };
const LARGE = { sequences: 16, promptTokens: 200, newTokens: 64, bar: 2 };
/** By name: what is sampled. No new tokens: the prompts' forward pass alone, without output matrix. */
const CASES = {
  "0.90M": { model: "0.90M", ...SMALL },
  "27.4M": { model: "27.4M", ...SMALL },
  "135M": { model: "135M", ...LARGE },
  "135M-int8": { model: "135M", ...LARGE, samplingWeights: "int8" },
  "135M-group": { model: "135M", ...LARGE, alike: true },
  "135M-prefill": { model: "135M", ...LARGE, newTokens: 0, bar: 1 },
};

export async function measure({ only = Object.keys(CASES), ...settings }) {
  const runs = [];
  for (const [name, given] of Object.entries(CASES)) {
    if (!only.includes(name)) continue;
    console.error(`generate, ${name}`);
    runs.push({ name, ...rounded(await compare(given, settings)) });
  }
  return { runs, tables: [table(runs)] };
}

async function compare(given, { work, python, seconds, rounds, llamaBatchedBench }) {
  const { model, bar, ...shape } = given;
  const { folder } = await writeWork(work, model);
  const prompts = await writePrompts(folder, model, shape);
  const settings = { ...shape, folder, prompts };
  const script = (name, more = {}) => [
    join(import.meta.dirname, name),
    JSON.stringify({ ...settings, ...more }),
  ];
  return withPlayers(
    {
      ours: ["generate", JSON.stringify(settings)],
      theirs: [python, script("generate_player.py")],
    },
    async ({ ours, theirs }) => {
      const llama =
        shape.newTokens === 0
          ? { status: "not applicable", detail: "it times tokens" }
          : await startPlayer(python, script("llama_player.py", { program: llamaBatchedBench }));
      const turns = { agentrl: await turnsOf(ours, {}, seconds) };
      const missing = {};
      for (const [name, player] of Object.entries({ transformers: theirs, "llama.cpp": llama })) {
        if (player.status === "ok") turns[name] = await turnsOf(player, {}, seconds);
        else missing[name] = { status: player.status, detail: player.detail };
      }
      const found = await inRounds(turns, rounds);
      await llama.close?.();
      const { "llama.cpp": cpp, ...barred } = found;
      const least = { transformers: bar, "llama.cpp": undefined };
      const against = Object.entries({
        transformers: barred,
        "llama.cpp": { agentrl: found.agentrl, "llama.cpp": cpp },
      });
      return {
        ...{ ...shape, missing, version: theirs.ready?.version },
        against: Object.fromEntries(
          against
            .filter(([name]) => missing[name] === undefined)
            .map(([name, pair]) => [name, compared(pair, least[name])]),
        ),
      };
    },
  );
}

function table(runs) {
  const head = ["", "new tokens/s", "s for all", "processor s", "busy elsewhere"];
  const rows = runs.flatMap(({ name: run, against, missing, ...shape }) => {
    const { sequences, promptTokens, newTokens, alike, samplingWeights } = shape;
    const contenders = Object.assign({}, ...Object.values(against).map((each) => each.contenders));
    const cells = Object.entries(contenders).map(([name, each]) => [
      `  ${name}`,
      short((sequences * newTokens) / each.seconds),
      short(each.seconds),
      short(each.processorSeconds),
      `${short(100 * each.mostBusyElsewhere)} %`,
    ]);
    const absent = Object.entries(missing).map(([name, each]) => [
      ...[`  ${name}`, each.status, each.detail],
    ]);
    const title = `${run}: ${sequences} × (${promptTokens} + ${newTokens})${alike ? ", one prompt" : ""}${samplingWeights ? `, ${samplingWeights}` : ""}`;
    return [[title], ...cells, ...absent];
  });
  const notes = runs.flatMap(({ name: run, against, version }) =>
    Object.values(against).map(
      ({ best, ratio, processorRatio }) =>
        `  ${run}: ${verdict(ratio, best)}; processor time ${spread(processorRatio)}${best === "transformers" ? `; ${version}` : ""}`,
    ),
  );
  return { title: "sequences × (prompt + new tokens)", rows: [head, ...rows], notes };
}
