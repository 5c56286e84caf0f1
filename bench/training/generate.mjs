// Sampling at temperature 1, sequences together, no end before the length is full: transformers' generate, and llama.cpp's
// batched decode, which draws no tokens.
import { join } from "node:path";
import { rounded, short } from "../retrieval/rows.mjs";
import { startPlayer, turnsOf, withPlayers } from "./players.mjs";
import { compared, inRounds, spread, verdict } from "./rounds.mjs";
import { writePrompts, writeWork } from "./shapes.mjs";

const BAR = 5;
const SHAPE = { sequences: 64, promptTokens: 64, newTokens: 128 };
const MODELS = ["0.90M", "27.4M"];

export async function measure({ only = MODELS, ...settings }) {
  const runs = [];
  for (const model of MODELS.filter((name) => only.includes(name))) {
    console.error(`generate, ${model}`);
    runs.push(rounded(await compare(model, settings)));
  }
  return { runs, tables: [table(runs)] };
}

async function compare(model, { work, python, seconds, rounds, llamaBatchedBench }) {
  const { folder } = await writeWork(work, model);
  const prompts = await writePrompts(folder, model, SHAPE);
  const settings = { ...SHAPE, folder, prompts };
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
      const llama = await startPlayer(
        python,
        script("llama_player.py", { program: llamaBatchedBench }),
      );
      const turns = { agentrl: await turnsOf(ours, {}, seconds) };
      const missing = {};
      for (const [name, player] of Object.entries({ transformers: theirs, "llama.cpp": llama })) {
        if (player.status === "ok") turns[name] = await turnsOf(player, {}, seconds);
        else missing[name] = { status: player.status, detail: player.detail };
      }
      const found = await inRounds(turns, rounds);
      await llama.close?.();
      const { "llama.cpp": cpp, ...barred } = found;
      const least = { transformers: BAR, "llama.cpp": undefined };
      const against = Object.entries({
        transformers: barred,
        "llama.cpp": { agentrl: found.agentrl, "llama.cpp": cpp },
      });
      return {
        ...{ model, ...SHAPE, missing, version: theirs.ready?.version },
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
  const head = ["", "tokens/s", "s for all", "processor s", "busy elsewhere"];
  const rows = runs.flatMap(({ model, sequences, newTokens, against, missing }) => {
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
    return [[model], ...cells, ...absent];
  });
  const notes = runs.flatMap(({ model, against, version }) =>
    Object.values(against).map(
      ({ best, ratio, processorRatio }) =>
        `  ${model}: ${verdict(ratio, best)}; processor time ${spread(processorRatio)}${best === "transformers" ? `; ${version}` : ""}`,
    ),
  );
  const { sequences, promptTokens, newTokens } = SHAPE;
  const title = `${sequences} sequences, prompts of ${promptTokens} tokens, ${newTokens} new tokens each`;
  return { title, rows: [head, ...rows], notes };
}
