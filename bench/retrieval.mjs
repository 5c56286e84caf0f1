// Retrieval against JavaScript peers, native peers, and itself at growing sizes: npm run bench -- retrieval [PART…] [options].
import { tmpdir } from "node:os";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { missingSources } from "./retrieval/corpora.mjs";
import { aligned } from "./retrieval/rows.mjs";

const PARTS = ["peers", "native", "scale", "vectors"];

/** Sizes of a run of all parts, which takes about two minutes; a part asked for by name takes `full` where none is given. */
const SIZES = {
  peers: { quick: [10_000], full: [200_000] },
  native: { quick: [10_000], full: [200_000] },
  scale: { quick: [10_000], full: [10_000, 100_000, 1_000_000, 5_000_000] },
  vectors: { quick: null, full: null },
};

export async function measure(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      /** Sizes, with commas between: 10000,100000. */
      passages: { type: "string" },
      /** How long each contender is asked. */
      seconds: { type: "string" },
      /** Folder for corpora and indexes; what is there is used again. */
      work: { type: "string", default: join(tmpdir(), "agentrl-bench-retrieval") },
      python: { type: "string", default: defaultPython() },
      /** Contenders to run, with commas between; all where absent. */
      only: { type: "string" },
    },
  });
  const unknown = positionals.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) {
    throw new Error(`No part "${unknown.join(", ")}". Parts: ${PARTS.join(", ")}.`);
  }
  const quick = positionals.length === 0;
  const before = machine();
  const parts = {};
  for (const part of quick ? PARTS : positionals) {
    const sizes = values.passages?.split(",").map(Number) ?? SIZES[part][quick ? "quick" : "full"];
    const settings = {
      ...{ sizes, quick, work: values.work, python: values.python },
      seconds: Number(values.seconds ?? (quick ? 2 : 10)),
      only: values.only?.split(","),
    };
    parts[part] = await run(part, settings);
  }
  return { benchmark: "retrieval", machine: { ...before, loadAfter: machine().load }, parts };
}

async function run(part, settings) {
  const file = new URL(`./retrieval/${part}.mjs`, import.meta.url);
  if (!existsSync(file)) return { skipped: "not written yet" };
  const missing = part === "vectors" ? null : missingSources();
  if (missing !== null) return { skipped: missing };
  const { measure } = await import(file);
  return measure(settings);
}

/** Where bench/requirements.txt says to put it, else what the shell finds. */
function defaultPython() {
  const own = join(import.meta.dirname, ".venv/bin/python");
  return existsSync(own) ? own : "python3";
}

/** A part's result is {skipped} or {title, rows: text cells by row, the head first, notes?: lines}, or a list of such. */
export function table({ parts }) {
  return Object.entries(parts)
    .flatMap(([part, result]) => {
      if (result.skipped !== undefined) return [`${part}: skipped, ${result.skipped}`];
      return [result.tables]
        .flat()
        .map(({ title, rows, notes = [] }) =>
          [`${part}: ${title}`, aligned(rows), ...notes].join("\n"),
        );
    })
    .join("\n\n");
}
