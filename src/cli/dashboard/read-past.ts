import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { RunPast } from "./follow-run.ts";
import { type EvaluationPoint, type StepPoint, TOKENS_PER_SECOND } from "./run-view.ts";

/**
 * Facts in the folder of a started run: the policy's device and, for a resumed run, its history.
 * @param resumed false: only the policy's device.
 */
export async function readPast(folder: string, resumed: boolean): Promise<RunPast> {
  const { machine } = (await readJson(join(folder, "manifest.json"))) as {
    machine?: { device?: string };
  };
  const device = machine?.device ?? null;
  if (!resumed) return { device, history: [], evaluations: [], events: [] };
  return {
    device,
    history: await readHistory(join(folder, "metrics.jsonl")),
    evaluations: await readEvaluations(join(folder, "eval")),
    events: (await linesOf(join(folder, "events.jsonl"))) as RunEvent[],
  };
}

async function readHistory(file: string): Promise<StepPoint[]> {
  const lines = (await linesOf(file)) as {
    step: number;
    data: Record<string, number>;
    timing?: { tokensPerSecond?: number };
  }[];
  return lines.map(({ step, data, timing }) => ({
    step,
    metrics: { ...data, [TOKENS_PER_SECOND]: timing?.tokensPerSecond ?? NaN },
  }));
}

/** In the order of measurement: before, during, after. */
async function readEvaluations(folder: string): Promise<EvaluationPoint[]> {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
  const place = (name: string): number =>
    name === "before" ? -1 : Number(/^step-(\d+)$/.exec(name)?.[1] ?? Infinity);
  const found = names.map(async (name) => {
    const { metrics, n } = (await readJson(join(folder, `${name}.json`))) as {
      metrics: { em: number };
      n: number;
    };
    return { name, em: metrics.em, n };
  });
  return (await Promise.all(found)).sort((a, b) => place(a.name) - place(b.name));
}

async function linesOf(file: string): Promise<unknown[]> {
  if (!existsSync(file)) return [];
  const lines: unknown[] = [];
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) lines.push(value);
  return lines;
}
