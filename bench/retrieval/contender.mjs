// node --expose-gc bench/retrieval/contender.mjs TASK JSON: one contender's work in a process of its own; prints one JSON line.
import { readPassages } from "../../dist/data/passages.js";
import { searchedText } from "../../dist/retrieval/store/passage-file.js";
import { english } from "../../dist/text/analyzer.js";
import {
  askInBatches,
  askOneByOne,
  clocks,
  K,
  memory,
  peakMb,
  readLines,
  withoutHits,
} from "./measuring.mjs";

const tasks = { buildAndAsk, build, ask, formula };
const [task, settings] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await tasks[task](JSON.parse(settings)))}\n`);

/** A peer: built in memory, asked where it was built. */
async function buildAndAsk({ contender, corpus, questions, seconds }) {
  const { search, ...built } = await timedBuild({ contender, corpus, options: {} });
  const { residentMb: readyMb } = await memory();
  const asked = await askOneByOne((query) => search(query, K), readLines(questions), seconds);
  return { ...built, readyMb, ...asked, ...(await memory()) };
}

/** Ours: built by one process, opened by another, as it is used. */
async function build({ contender, corpus, out, threads, analyzer, clock }) {
  const options = { out, threads, ...(analyzer === undefined ? {} : { analyzer }) };
  const { version, buildSeconds } = await timedBuild({ contender, corpus, options, clock });
  return { version, buildSeconds, peakMb: peakMb() };
}

async function ask({ contender, out, questions, titles, seconds, clock }) {
  const { open } = await import(`./contenders/${contender}.mjs`);
  const start = performance.now();
  const { search, retriever } = await open(out);
  const openMs = performance.now() - start;
  const { residentMb: readyMb } = await memory();
  const queries = readLines(questions);
  const one = (query) => search(query, K);
  const asked = await askOneByOne(one, queries, seconds);
  const batched = await askInBatches((batch) => retriever.search(batch, K), queries, {
    ...{ size: 64, seconds, clock },
  });
  const titled = titles === undefined ? null : await askOneByOne(one, readLines(titles), seconds);
  return {
    ...{ openMs, readyMb, ...asked },
    batchedQueriesPerSecond: batched.queriesPerSecond,
    ...(titled === null ? {} : { titles: withoutHits(titled) }),
    ...(await memory()),
  };
}

async function timedBuild({ contender, corpus, options, clock = "wall" }) {
  const module = await import(`./contenders/${contender}.mjs`);
  const start = clocks[clock]();
  const built = await module.build(readPassages(corpus), options);
  return { ...built, buildSeconds: clocks[clock]() - start };
}

/** Are the scores those of the formula that the contender is said to use? Looked at on a small corpus, all ten hits. */
async function formula({ contender, corpus, questions, passages: limit }) {
  const { build, score } = await import(`./contenders/${contender}.mjs`);
  const passages = [];
  for await (const passage of readPassages(corpus)) {
    passages.push(passage);
    if (passages.length === limit) break;
  }
  const { search } = await build(passages, {});
  const { corpus: facts, byId } = statistics(passages);
  let worst = 0;
  let misplaced = 0;
  for (const question of readLines(questions).slice(0, 40)) {
    const query = english.analyze(question);
    const expected = [...byId.values()]
      .map((passage) => score({ query, passage, corpus: facts }))
      .sort((x, y) => y - x);
    for (const [rank, [id, found]] of (await search(question, K)).entries()) {
      const should = score({ query, passage: byId.get(id), corpus: facts });
      worst = Math.max(worst, Math.abs(found - should) / should);
      if (Math.abs(should - expected[rank]) > 1e-3 * should) misplaced += 1;
    }
  }
  return { worstRelativeError: worst, misplaced, agrees: worst < 1e-3 && misplaced === 0 };
}

function statistics(passages) {
  const byId = new Map();
  const df = new Map();
  let length = 0;
  let distinct = 0;
  for (const passage of passages) {
    const terms = english.analyze(searchedText(passage));
    const counts = new Map();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const term of counts.keys()) df.set(term, (df.get(term) ?? 0) + 1);
    byId.set(passage.id, { counts, length: terms.length, distinct: counts.size });
    length += terms.length;
    distinct += counts.size;
  }
  const n = passages.length;
  const idf = (term) => Math.log(1 + (n - df.get(term) + 0.5) / (df.get(term) + 0.5));
  return { byId, corpus: { n, idf, meanLength: length / n, meanDistinct: distinct / n } };
}
