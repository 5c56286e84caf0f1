// Training: a run's update against the engine alone, and against PyTorch, PEFT, TRL, transformers and llama.cpp, PPO against GRPO: npm run bench -- training [PART…] [options].
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { machine } from "./engine/timing.mjs";
import { aligned } from "./retrieval/rows.mjs";

const PARTS = ["update", "pytorch", "adapters", "trl", "generate", "ppo", "adamw"];

export async function measure(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      python: { type: "string", default: defaultPython() },
      /** Models to run, with commas between; all where absent. */
      only: { type: "string" },
      /** Least time of one contender's turn; a turn is one unit of work at least. */
      seconds: { type: "string", default: "2" },
      rounds: { type: "string", default: "7" },
      /** llama.cpp's program for batched decoding. */
      "llama-batched-bench": { type: "string", default: "llama-batched-bench" },
    },
  });
  const unknown = positionals.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) {
    throw new Error(`No part "${unknown.join(", ")}". Parts: ${PARTS.join(", ")}.`);
  }
  const before = machine();
  const work = await mkdtemp(join(tmpdir(), "agentrl-bench-training-"));
  const parts = {};
  try {
    for (const part of positionals.length === 0 ? PARTS : positionals) {
      const { measure } = await import(`./training/${part}.mjs`);
      parts[part] = await measure({
        ...{ work, python: values.python, only: values.only?.split(",") },
        ...{ seconds: Number(values.seconds), rounds: Number(values.rounds) },
        llamaBatchedBench: values["llama-batched-bench"],
      });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { benchmark: "training", machine: { ...before, loadAfter: machine().load }, parts };
}

/** Where the requirements say to put it, else what the shell finds. */
function defaultPython() {
  const own = join(import.meta.dirname, ".venv/bin/python");
  return existsSync(own) ? own : "python3";
}

export function table({ parts }) {
  return Object.entries(parts)
    .flatMap(([part, { tables }]) =>
      tables.map(({ title, rows, notes }) =>
        [`${part}: ${title}`, aligned(rows), ...notes].join("\n"),
      ),
    )
    .join("\n\n");
}
