import { randomUUID } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { makeFolder } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { queuedReporter, queueShape, type ReporterBackend } from "./delivery.ts";
import { keptRunId } from "./kept-run-id.ts";
import { ALERT_LEVELS, jsonNumber, namedFigures, type ReporterEvent } from "./reporter-event.ts";
import { defineReporter, type RunStart } from "./reporter.ts";
import { environmentValue } from "./server.ts";

const NAME = "wandb";

/**
 * The run's events in its folder's `wandb/`, with a script that uploads them by W&B's own Python client. agentrl itself contacts no W&B
 * server and writes none of W&B's internal files.
 */
export const wandb = defineReporter({
  name: NAME,
  summary: "A script in the run folder's wandb/ that uploads the run with W&B's Python client.",
  options: z.strictObject({
    /** WANDB_PROJECT when absent, else the recipe's name. */
    project: z.string().min(1).optional(),
    /** The run folder's name when absent. */
    runName: z.string().min(1).optional(),
    ...queueShape,
  }),
  async open({ project, runName, maxQueued, closeMs }, start, onTrouble) {
    const run = {
      id: await keptRunId(start, NAME, () => randomUUID().slice(0, 8)),
      project: project ?? environmentValue("WANDB_PROJECT") ?? start.recipe,
      name: runName ?? basename(resolve(start.out)),
    };
    return queuedReporter(backendOf(start, run), { maxQueued, closeMs, intervalMs: 0, onTrouble });
  },
});

function backendOf(
  { out, recipe, tier, version, settings }: RunStart,
  run: { id: string; project: string; name: string },
): ReporterBackend {
  const folder = join(out, NAME);
  const opening = { run: { ...run, config: { recipe, tier, agentrl: version, ...settings } } };
  let isOpen = false;
  // A write that failed may have left half a line.
  let lineEnd = "";
  return {
    name: NAME,
    batchSize: (waiting) => waiting.length,
    async send(batch) {
      const lines = [...(isOpen ? [] : [opening]), ...batch.map(lineOf)];
      try {
        if (!isOpen) {
          await makeFolder(folder);
          await writeFile(join(folder, "upload.py"), UPLOAD);
        }
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
        await appendFile(join(folder, `${run.id}.jsonl`), lineEnd + text);
        isOpen = true;
        lineEnd = "";
      } catch (error) {
        lineEnd = "\n";
        throw new Error(`${NAME}: ${folder} cannot be written to (${errorMessage(error)}).`, {
          cause: error,
        });
      }
    },
  };
}

function lineOf(event: ReporterEvent): object {
  const { kind, at } = event;
  if (kind === "end") return { end: EXIT_CODES[event.outcome] };
  if (kind === "event") {
    const { kind: title, step, message } = event.event;
    return { alert: { step, title, text: message, level: ALERT_LEVELS[title].toUpperCase() } };
  }
  const figures = Object.entries(namedFigures(event)).map(([name, value]) => [
    name,
    jsonNumber(value),
  ]);
  return { [kind]: event.step, time: at / 1000, figures: Object.fromEntries(figures) as object };
}

/** W&B shows every code but 0 as failed; 130 is that of an interrupted process. */
const EXIT_CODES = { finished: 0, interrupted: 130, failed: 1 } as const;

/** Reads the lines of `lineOf`. */
const UPLOAD = `"""Uploads this run to Weights & Biases: \`pip install wandb\`, then \`python upload.py\`. Again after a resume: it adds the new steps.

WANDB_API_KEY, WANDB_BASE_URL, WANDB_ENTITY and WANDB_MODE=offline mean what they mean to wandb.
"""
import json
import pathlib

import wandb

for path in sorted(pathlib.Path(__file__).parent.glob("*.jsonl")):
    names, rows, alerts, code = None, {}, {}, 1  # without an end the run was killed, or still trains
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # half a line
        if "run" in event:
            names, code = event["run"], 1
        elif "end" in event:
            code = event["end"]
        elif "alert" in event:
            alerts[json.dumps(event)] = event["alert"]
        else:
            step = event.get("step", event.get("evaluation"))
            if "step" in event:  # a rollback repeats steps
                rows = {each: row for each, row in rows.items() if each < step}
            figures = {name: float(value) for name, value in event["figures"].items()}
            rows[step] = {**rows.get(step, {}), **figures, "_timestamp": event["time"]}
    run = wandb.init(**names, resume="allow")
    begin = run.step if run.resumed else 0
    for step, row in sorted(rows.items()):
        if step >= begin:
            run.log(row, step=step)
    for alert in alerts.values():
        if alert.pop("step") >= begin:
            run.alert(**alert)
    run.finish(exit_code=code)
`;
