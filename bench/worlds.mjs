// Where BM25 ranks the passages that tiny-world questions need, by knob: npm run bench -- worlds [--people 1000] [--questions 500].
import { parseArgs } from "node:util";
import { tinyWorld } from "../dist/worlds/tiny/tiny-world.js";
import { stepQueries } from "../dist/worlds/tiny/text.js";
import { buildBm25 } from "../dist/retrieval/bm25/bm25.js";

const CHAINS = { bridge1: 1, bridge2: 1, bridge3: 1, bridge4: 1, comparison: 0, yesNo: 0 };
const NO_CHAINS = { bridge1: 0, bridge2: 0, bridge3: 0, comparison: 0, yesNo: 0 };

/** Settings of a world, and the questions where they are not chains. */
const SETTINGS = [
  { knob: "none" },
  { knob: "wordings: 1", world: { wordings: 1 } },
  { knob: "namesakes: 0.5", world: { namesakes: 0.5 } },
  { knob: "aliases: 0.5", world: { aliases: 0.5 } },
  { knob: "filler: 4", world: { filler: 4 } },
  { knob: "filler: 12", world: { filler: 12 } },
  { knob: "contradicted: 0.5", world: { contradicted: 0.5 } },
  { knob: "sources: 3", world: { sources: 3 } },
  { knob: "mix.intersect: 1", mix: { ...NO_CHAINS, intersect: 1 } },
  { knob: "mix.compareChains: 1", mix: { ...NO_CHAINS, compareChains: 1 } },
];

/** Most ranks that are looked at. */
const DEPTH = 3;

export async function measure(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean" },
      people: { type: "string", default: "1000" },
      questions: { type: "string", default: "500" },
    },
  });
  const [people, questions] = [Number(values.people), Number(values.questions)];
  const rows = [];
  for (const passages of ["entity", "fact"]) {
    for (const { knob, world: knobs = {}, mix = CHAINS } of SETTINGS) {
      const world = tinyWorld({ people, passages, ...knobs });
      const tasks = [...world.questions(questions, { mix })];
      rows.push(...(await found(world, tasks)).map((row) => ({ passages, knob, ...row })));
    }
  }
  return { people, questions, rows };
}

/** Shares of steps whose passage is among the first hits, by what is searched for. */
async function found(world, tasks) {
  const retriever = buildBm25(world.passages());
  const steps = tasks.flatMap(({ question, annotations }) =>
    annotations.decomposition.map((step) => ({ ...step, whole: question })),
  );
  const queries = {
    label: ({ question }) => [question],
    "first wording": ({ question }) => stepQueries(question).slice(0, 1),
    "best wording": ({ question }) => stepQueries(question),
    question: ({ whole }) => [whole],
  };
  const rows = [];
  for (const [query, of] of Object.entries(queries)) {
    const at = Array(DEPTH).fill(0);
    for (const step of steps) {
      const hits = await retriever.search(of(step), DEPTH);
      const ranks = hits.map((each) => each.findIndex((hit) => hit.id === step.passage));
      const best = Math.min(...ranks.map((rank) => (rank === -1 ? DEPTH : rank)));
      for (let k = best; k < DEPTH; k++) at[k] += 1;
    }
    rows.push({ query, at: at.map((count) => count / steps.length) });
  }
  return rows;
}

export function table({ people, questions, rows }) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const share = (value) => value.toFixed(3).replace(/^0/, "");
  return [
    `${people} people, ${questions} questions; share of steps whose passage is among the first 1, 2, 3 hits`,
    line(["passages", "knob", "query", "@1", "@2", "@3"]),
    line(Array(6).fill("---")),
    ...rows.map(({ passages, knob, query, at }) => line([passages, knob, query, ...at.map(share)])),
  ].join("\n");
}
