// BM25 against native peers, each on one thread of one core, in two ways: "terms", everybody gets our analyzer's terms and
// splits at blanks; "text", everybody analyses for itself, passages and queries.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.mjs";
import { corpora } from "./corpora.mjs";
import { overlap, withoutHits } from "./measuring.mjs";
import { bar, rounded, short, verdicts } from "./rows.mjs";

const here = join(import.meta.dirname, "native");
const jars = join(here, "lucene/target/jars");
const OPTIONS = { pinned: true, limitSeconds: 3600 };
const PEERS = ["bm25s", "tantivy", "lucene"];

const INSTALL = {
  bm25s: "bench/requirements.txt",
  tantivy: "bench/requirements.txt",
  lucene: "bench/retrieval/native/lucene/pom.xml",
};

export async function measure({ sizes, work, seconds, python, only = PEERS }) {
  const runs = [];
  for (const count of sizes) {
    const made = await corpora(work, count);
    const tracks = { terms: await made.terms(), text: made.text };
    for (const [track, files] of Object.entries(tracks)) {
      console.error(`native, ${track}, ${count} passages`);
      const rows = await atSize(track, files, { work, seconds, python, only });
      const passages = { count, real: made.real, made: count - made.real };
      runs.push(rounded({ passages, track, rows, bars: compared(rows) }));
    }
  }
  return { runs, tables: runs.map(table) };
}

async function atSize(track, { corpus, questions }, { work, seconds, python, only }) {
  const settings = { track, corpus, questions, seconds, clock: "processor" };
  const ours = await measureOurs({ ...settings, out: join(work, "native-index") });
  const peers = {
    bm25s: () => withPython(python, "bm25s_contender.py", settings),
    tantivy: () => withPython(python, "tantivy_contender.py", settings),
    lucene: () => withJava(settings),
  };
  const rows = [ours];
  for (const contender of PEERS.filter((name) => only.includes(name))) {
    const row = { contender, ...(await peers[contender]()) };
    if (row.status === "not installed") row.detail = `see ${INSTALL[contender]}`;
    if (row.status === "ok") row.overlapAt10 = overlap(ours.hits, row.hits);
    rows.push(row);
  }
  return rows.map(withoutHits);
}

/** Terms are analysed again, by the analyzer that leaves them as they are; that is our cost of splitting at blanks. */
async function measureOurs({ track, ...files }) {
  const node = (task, settings) => {
    const script = join(import.meta.dirname, "contender.mjs");
    const args = ["--expose-gc", script, task, JSON.stringify({ ...settings, contender: "ours" })];
    return runChild(process.execPath, args, OPTIONS);
  };
  const analyzer = track === "terms" ? "plain" : "english";
  const built = await node("build", { ...files, threads: 0, analyzer });
  if (built.status !== "ok") throw new Error(`Our own build failed: ${built.detail}`);
  const asked = await node("ask", files);
  if (asked.status !== "ok") throw new Error(`Our own search failed: ${asked.detail}`);
  return {
    ...{ contender: "agentrl", ...asked, ...built },
    oneByOneWallQueriesPerSecond: asked.queriesPerSecond,
    queriesPerSecond: asked.batchedQueriesPerSecond,
    peakMb: Math.max(built.peakMb, asked.peakMb),
  };
}

function withPython(python, file, settings) {
  return runChild(python, [join(here, file), JSON.stringify(settings)], OPTIONS);
}

function withJava({ track, corpus, questions, seconds }) {
  if (!existsSync(jars)) return { status: "not installed" };
  const program = join(here, "lucene/LuceneContender.java");
  const args = ["-Xmx4g", "--class-path", `${jars}/*`, program, track, corpus, questions, seconds];
  return runChild("java", args.map(String), OPTIONS);
}

function compared([ours, ...peers]) {
  const bars = {};
  for (const peer of peers.filter(({ status }) => status === "ok")) {
    const least = peer.contender === "bm25s" ? 1 : null;
    const ratios = {
      "queries/s": ours.queriesPerSecond / peer.queriesPerSecond,
      build: peer.buildSeconds / ours.buildSeconds,
    };
    if (peer.stages?.tokenize !== undefined) {
      // Of their build the part that follows analysis, against our whole one.
      ratios["build, their index stage alone"] = peer.stages.index / ours.buildSeconds;
    }
    for (const [name, ratio] of Object.entries(ratios)) {
      const barred = least !== null && !name.includes("alone");
      bars[`${name} against ${peer.contender}`] = barred ? bar(ratio, least) : { ratio };
    }
  }
  return bars;
}

function table({ passages, track, rows, bars }) {
  const numbers = ["buildSeconds", "queriesPerSecond", "residentMb", "peakMb", "overlapAt10"];
  const cells = rows.map((row) =>
    row.status === "ok"
      ? [row.contender, ...numbers.map((name) => short(row[name])), row.version]
      : [row.contender, row.status, row.detail ?? ""],
  );
  return {
    title: `${track}, ${passages.count} passages (${passages.real} real), one thread, processor seconds`,
    rows: [["", "build s", "q/s", "resident MB", "peak MB", "overlap@10", "version"], ...cells],
    notes: verdicts(bars).map((line) => `  ${line}`),
  };
}
