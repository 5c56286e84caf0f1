import type { PreferenceResult, RunPreferenceOptions } from "../../recipe/sft/run-preference.ts";
import type { Override } from "../../recipe/settings/settings.ts";
import type { PreferenceStep } from "../../train/preference.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { eventLine } from "../event-line.ts";
import { watchDownload } from "../model-download.ts";
import { packageVersion } from "../package-info.ts";
import { startProgress, type Progress } from "../progress.ts";
import {
  addRecipeOptions,
  defaultRunFolder,
  settingsOf,
  type RecipeFlags,
} from "../recipe-options.ts";
import {
  addRunOptions,
  folderUseOf,
  type RunFlags,
  runOverrides,
  showingRun,
} from "../run-flags.ts";

interface DpoFlags extends RecipeFlags, RunFlags {
  data?: string;
  validationData?: string;
}

/** `agentrl dpo`: a recipe's training on pairs. */
export const dpoCommand: CliCommand = {
  name: "dpo",
  register(program, context) {
    addRunOptions(
      addRecipeOptions(
        program
          .command("dpo")
          .summary("train a policy on pairs of better and worse trajectories")
          .description(
            "Train a policy on pairs of better and worse trajectories, of which only what the policy wrote is compared: DPO, or " +
              "IPO, SimPO, ORPO by preference.loss. The policy that it starts from is the reference. docs/preference.md",
          ),
        "run folder; runs/<recipe>-<tier>-seed<N>-preference when absent",
      ),
    )
      .option("--data <path>", "folder of a synthesis that made pairs, or a file of pairs")
      .option(
        "--validation-data <file>",
        "pairs that are only measured; the folder's own if it has some",
      )
      .action((flags: DpoFlags) => train(flags, context));
  },
};

async function train(flags: DpoFlags, context: CliContext): Promise<void> {
  const { runPreference } = await import("../../recipe/sft/run-preference.ts");
  const resolved = await settingsOf(flags, overridesOf(flags));
  const out = flags.out ?? `${defaultRunFolder(resolved)}-preference`;
  const { recipe, tier, settings } = resolved;
  context.note(`${recipe.name}, tier ${tier}, seed ${settings.seed} → ${out}`);
  const download = watchDownload(context);
  const watch = watcher(context);
  const begun = performance.now();
  await showingRun(context, { out, shown: [download, watch] }, async () => {
    const result = await runPreference(resolved, {
      ...{ out, version: packageVersion(), signal: context.signal },
      ...folderUseOf(flags),
      ...{ download: download.options, ...watch.observer },
    });
    const wallSeconds = Math.round((performance.now() - begun) / 100) / 10;
    if (flags.json === true) context.out(JSON.stringify({ run: out, ...result, wallSeconds }));
    else context.out(asText(out, result, wallSeconds));
  });
}

function overridesOf(flags: DpoFlags): Override[] {
  const { data, validationData } = flags;
  const named: [string, string | undefined, string][] = [
    ["preference.data", data, "--data"],
    ["preference.validationData", validationData, "--validation-data"],
  ];
  const files = named.flatMap(([key, value, origin]) =>
    value === undefined ? [] : [{ key, value, origin }],
  );
  return [...files, ...runOverrides(flags)];
}

function watcher(context: CliContext): {
  observer: Pick<RunPreferenceOptions, "onEvent" | "onPairs" | "onStep" | "onValidation">;
  stop(): void;
} {
  let progress: Progress | null = null;
  return {
    observer: {
      onEvent: (event) => {
        context.note(eventLine(event));
      },
      onPairs: ({ file, count, skipped, steps }) => {
        const left = Object.entries(skipped).map(([reason, n]) => `${n} ${reason}`);
        const without = left.length === 0 ? "" : `, left out: ${left.join(", ")}`;
        context.note(`${count} pairs of ${file}${without}; ${steps} steps`);
        progress = startProgress(context, { label: "training", total: steps, unit: "steps" });
      },
      onValidation: (step, metrics) => {
        context.note(
          `${step === 0 ? "before" : `step ${step}`}: validation ${figures("validation/", metrics)}`,
        );
      },
      onStep: (step) => {
        progress?.update(step.step);
        const every = Math.max(1, Math.round(step.totalSteps / 20));
        if (step.step % every === 0 || step.step === step.totalSteps) context.note(stepLine(step));
      },
    },
    stop: () => progress?.stop(),
  };
}

function stepLine(step: PreferenceStep & { totalSteps: number }): string {
  const digits = String(step.totalSteps).length;
  return `step ${String(step.step).padStart(digits)}/${step.totalSteps}  ${figures("", step.metrics)}`;
}

function figures(prefix: string, metrics: Readonly<Record<string, number>>): string {
  const value = (name: string, digits: number): string =>
    (metrics[prefix + name] ?? NaN).toFixed(digits);
  return `loss ${value("losses/preference", 4)}  margin ${value("rewards/margin", 4)}  accuracy ${value("rewards/accuracy", 3)}`;
}

function asText(run: string, result: PreferenceResult, wallSeconds: number): string {
  const { steps, pairs, stoppedEarly, validation, policy, checkpoint } = result;
  const early = stoppedEarly ? " (ended early: the validation loss rose)" : "";
  const measured =
    validation === null
      ? []
      : (["before", "after"] as const).map(
          (when) => `${when.padEnd(12)}${figures("validation/", validation[when])}`,
        );
  return [
    `${steps} steps on ${pairs} pairs in ${wallSeconds.toFixed(0)} s${early}`,
    ...measured,
    `policy      ${policy}`,
    `checkpoint  ${checkpoint}`,
    `run         ${run}`,
  ].join("\n");
}
