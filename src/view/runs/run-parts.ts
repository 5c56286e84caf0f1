import { basename } from "node:path";
import type { Arm } from "./arms.ts";
import { readRolledBack, type RolledBack } from "./rolled-back.ts";
import type { RunFiles } from "./run-files.ts";

/** A run on the page: the run itself, or one of its stages. */
export interface DrawnRun {
  /** Short unique name: `klCoef 0, seed 2`. */
  name: string;
  files: RunFiles;
  rolledBack: RolledBack[];
}

/** Curves that share an axis of steps: a run's, or those of one stage of several runs. */
export interface RunPart {
  /** `2-sft`; null: not a stage. */
  stage: string | null;
  arms: { arm: Arm; runs: DrawnRun[] }[];
}

/** The parts of arms: runs without stages first, then each stage in order. */
export async function partsOf(arms: readonly Arm[]): Promise<RunPart[]> {
  const parts = new Map<string | null, RunPart>();
  for (const arm of arms) {
    for (const run of arm.runs) {
      const name = runName(arm, run);
      const drawn =
        run.kind === "staged" ? run.stages.filter(({ kind }) => kind !== "synth") : [run];
      for (const files of drawn) {
        const stage = files === run ? null : basename(files.folder);
        const part = parts.get(stage) ?? { stage, arms: [] };
        parts.set(stage, part);
        let own = part.arms.find((each) => each.arm === arm);
        if (own === undefined) part.arms.push((own = { arm, runs: [] }));
        const rolledBack = await readRolledBack(files.folder);
        own.runs.push({ name, files, rolledBack });
      }
    }
  }
  const number = (stage: string | null): number =>
    stage === null ? 0 : Number.parseInt(stage, 10);
  return [...parts.values()].sort((a, b) => number(a.stage) - number(b.stage));
}

/** A run's name in lists: its arm's, and its own label if the arm has several. */
export function runName(arm: Arm, run: RunFiles): string {
  return arm.runs.length === 1 ? arm.name : `${arm.name}, ${runLabel(arm, run)}`;
}

/** A run's name within its arm: its seed, or its folder's name if the seed is not unique. */
export function runLabel(arm: Arm, run: RunFiles): string {
  const seed = (of: RunFiles): string => JSON.stringify(of.settings?.values.get("seed") ?? null);
  const alike = arm.runs.filter((other) => seed(other) === seed(run));
  return alike.length === 1 ? `seed ${seed(run)}` : basename(run.folder);
}
