import type { ArmRun } from "../experiment/arms/arm-runs.ts";
import type { CliContext } from "./command.ts";
import { type Progress, startProgress } from "./progress.ts";

/** One bar for all runs of a reproduction, of which several may be under way. */
export interface ArmProgress {
  begin(run: ArmRun, total: number): void;
  update(run: ArmRun, text: string): void;
  end(run: ArmRun): void;
  stop(): void;
}

export function openArmProgress(context: CliContext): ArmProgress {
  const active = new Map<string, string>();
  let [done, total] = [0, 0];
  let bar: Progress | null = null;
  const show = (): void => bar?.update(done, [...active.values()].join(" · "));
  return {
    begin(run, all) {
      active.set(run.key, shortName(run));
      if (all !== total || bar === null) {
        bar?.stop();
        total = all;
        bar = startProgress(context, { label: "runs", total, unit: "runs" });
      }
      show();
    },
    update(run, text) {
      active.set(run.key, `${shortName(run)}: ${text}`);
      show();
    },
    end({ key }) {
      active.delete(key);
      done += 1;
      show();
    },
    stop() {
      bar?.stop();
    },
  };
}

/** @example "search 2" for seed 2 of the arm search */
function shortName({ arms, seed }: ArmRun): string {
  return `${arms[0]?.split("/")[1] ?? "run"} ${seed}`;
}
