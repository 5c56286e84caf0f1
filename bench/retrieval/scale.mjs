// Our BM25 at growing sizes: what building takes on all cores, and what a process that only asks takes.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { runChild } from "./child.mjs";
import { corpora, sizeOf } from "./corpora.mjs";
import { withoutHits } from "./measuring.mjs";
import { rounded, short } from "./rows.mjs";

const script = join(import.meta.dirname, "contender.mjs");

/** Bars: memory at any size, opening at any size. */
const BARS = { peakMb: 2000, openMs: 1000 };

export async function measure({ sizes, work, seconds }) {
  const rows = [];
  for (const count of sizes) {
    console.error(`scale, ${count} passages`);
    const { real, text } = await corpora(work, count);
    rows.push(await atSize({ count, real, text }, { out: join(work, "scale-index"), seconds }));
  }
  return { rows: rounded(rows), tables: [table(rows)] };
}

async function atSize({ count, real, text }, { out, seconds }) {
  const node = (task, settings) => {
    const args = ["--expose-gc", script, task, JSON.stringify({ contender: "ours", ...settings })];
    return runChild(process.execPath, args);
  };
  const about = { passages: count, real, corpusBytes: await sizeOf(text.corpus) };
  const built = await node("build", { corpus: text.corpus, out });
  if (built.status !== "ok") return { ...about, ...built };
  const bytesOnDisk = await folderBytes(out);
  const asked = withoutHits(await node("ask", { ...text, out, seconds }));
  await rm(out, { recursive: true, force: true });
  const { buildSeconds, peakMb: buildPeakMb } = built;
  const row = { ...about, buildSeconds, passagesPerSecond: count / buildSeconds, buildPeakMb };
  if (asked.status !== "ok") return { ...row, bytesOnDisk, ...asked };
  const { peakMb: askPeakMb, ...rest } = asked;
  return {
    ...{ ...row, bytesOnDisk, askPeakMb, ...rest },
    passed: Math.max(buildPeakMb, askPeakMb) <= BARS.peakMb && rest.openMs <= BARS.openMs,
  };
}

async function folderBytes(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (entry) => (await stat(join(entry.parentPath ?? entry.path, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function table(rows) {
  const columns = {
    passages: (row) => String(row.passages),
    real: (row) => String(row.real),
    "corpus MB": (row) => short(row.corpusBytes / 1e6),
    "build s": (row) => short(row.buildSeconds),
    "passages/s": (row) => short(row.passagesPerSecond),
    "build peak MB": (row) => short(row.buildPeakMb),
    "disk MB": (row) => short(row.bytesOnDisk / 1e6),
    "open ms": (row) => short(row.openMs),
    "ready MB": (row) => short(row.readyMb),
    "ask peak MB": (row) => short(row.askPeakMb),
    "q/s": (row) => short(row.queriesPerSecond),
    "q/s batched": (row) => short(row.batchedQueriesPerSecond),
    "p50 ms": (row) => short(row.p50Ms),
    "p99 ms": (row) => short(row.p99Ms),
    "titles q/s": (row) => short(row.titles?.queriesPerSecond),
    "": (row) => (row.status !== "ok" ? row.status : row.passed ? "ok" : "MISSED"),
  };
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return {
    title: `all cores build, one thread asks; bars: ${BARS.peakMb} MB resident, open in ${BARS.openMs} ms`,
    rows: [Object.keys(columns), ...cells],
    notes: rows
      .filter(({ detail }) => detail)
      .map(({ passages, detail }) => `  ${passages}: ${detail}`),
  };
}
