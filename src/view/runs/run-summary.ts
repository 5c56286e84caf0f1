import { basename, join } from "node:path";
import { existsSync } from "node:fs";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import type { RunFiles } from "./run-files.ts";
import { folderBytes } from "./run-sizes.ts";
import type { KnownState, RunKind } from "./run-state.ts";

/** Summary of a run in one line. */
export interface RunSummary {
  /** Last part of its path. */
  name: string;
  path: string;
  kind: RunKind;
  recipe: string | null;
  tier: string | null;
  seed: number | null;
  steps: RunFiles["steps"];
  state: KnownState["state"];
  /** Reason or evidence of the state. */
  stateMessage: string | null;
  /** Exact match on held-out questions; null if not measured. */
  em: { before: number | null; after: number | null };
  /** ISO time of the last write. */
  updatedAt: string;
  /** Bytes on disk, stages included. */
  bytes: number;
  stages: RunSummary[];
  /** Unreadable files, a sentence each. */
  troubles: string[];
}

/** A run in one line. */
export async function summaryOf(run: RunFiles): Promise<RunSummary> {
  const { folder, kind, manifest, settings, steps, state, troubles } = run;
  const seed = settings?.values.get("seed");
  return {
    name: basename(folder),
    path: folder,
    kind,
    recipe: manifest.recipe ?? settings?.recipe ?? null,
    tier: manifest.tier ?? settings?.tier ?? null,
    seed: typeof seed === "number" ? seed : null,
    steps,
    state: state.state,
    stateMessage: state.message,
    em: await heldOutEm(run),
    updatedAt: new Date(run.updatedMs).toISOString(),
    bytes: await folderBytes(folder),
    stages: await Promise.all(run.stages.map(summaryOf)),
    troubles,
  };
}

const checkSchema = z.looseObject({ em: z.number().nullable() });
const resultSchema = z.looseObject({
  validation: z.looseObject({ before: checkSchema, kept: checkSchema }).nullable(),
});

async function heldOutEm({ folder, evaluations }: RunFiles): Promise<RunSummary["em"]> {
  const of = (name: string): number | null =>
    evaluations.find((each) => each.name === name)?.metrics["em"] ?? null;
  const file = join(folder, "sft.json");
  if (existsSync(file)) {
    const result = resultSchema.safeParse(await readJson(file).catch(() => null));
    const validation = result.success ? result.data.validation : null;
    if (validation !== null) return { before: validation.before.em, after: validation.kept.em };
  }
  return { before: of("before") ?? of("step-0"), after: of("after") };
}
