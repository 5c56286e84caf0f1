import { fixed, formatCount } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import type { SftCheck, SftObserver, SftResult } from "../../recipe/sft/sft-session.ts";
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
import { sampleLines } from "../sft-text.ts";

interface SftFlags extends RecipeFlags, RunFlags {
  data?: string;
}

/** `agentrl sft`: supervised fine-tuning. */
export const sftCommand: CliCommand = {
  name: "sft",
  register(program, context) {
    addRunOptions(
      addRecipeOptions(
        program
          .command("sft")
          .summary("fine-tune a policy on trajectories that a teacher wrote")
          .description(
            "Fine-tune a policy as a recipe says: on the samples of a file (agentrl synth-data), measuring held-out ones on the way, or stage by stage on a stream of the tiny world's.",
          ),
        "run folder; runs/<recipe>-<tier>-seed<N> when absent",
      ),
    )
      .option("--data <path>", "samples to learn from: the folder of a synthesis, or a file")
      .action(async (flags: SftFlags) => {
        const { runSft } = await import("../../recipe/sft/run-sft.ts");
        const { data } = flags;
        const resolved = await settingsOf(flags, [
          ...(data === undefined ? [] : [{ key: "sft.data", value: data, origin: "--data" }]),
          ...runOverrides(flags),
        ]);
        const out = flags.out ?? defaultRunFolder(resolved);
        context.note(
          `${resolved.recipe.name}, tier ${resolved.tier}, seed ${resolved.settings.seed} → ${out}`,
        );
        const watch = watcher(context);
        const download = watchDownload(context);
        const begun = performance.now();
        await showingRun(context, { out, shown: [download, watch] }, async () => {
          const result = await runSft(resolved, {
            ...{ out, version: packageVersion(), signal: context.signal },
            ...folderUseOf(flags),
            ...{ ...watch.observer, download: download.options },
          });
          const wallSeconds = Math.round((performance.now() - begun) / 100) / 10;
          if (flags.json === true)
            context.out(JSON.stringify({ run: out, ...result, wallSeconds }));
          else context.out(asText(result, out, wallSeconds));
        });
      });
  },
};

function watcher(context: CliContext): { observer: SftObserver; stop(): void } {
  let progress: Progress | null = null;
  const observer: SftObserver = {
    onEvent: (event) => {
      context.note(eventLine(event));
    },
    onSamples: ({ train, validation, totalSteps }) => {
      for (const line of sampleLines("learning from", train)) context.note(line);
      if (validation !== null)
        for (const line of sampleLines("measuring on", validation)) context.note(line);
      context.note(`${totalSteps} steps`);
    },
    onCheck: (check) => {
      context.note(
        `step ${String(check.step).padStart(5)}  held out: ${measures(check)}  (${check.seconds.toFixed(1)} s)`,
      );
    },
    onStep: ({ step, totalSteps, loss, tokens, seconds }) => {
      const total = totalSteps;
      progress ??= startProgress(context, { label: "fine-tuning", total, unit: "steps" });
      progress.update(step, `loss ${loss.toFixed(3)}`);
      const every = Math.max(1, Math.round(totalSteps / 20));
      if (step % every !== 0 && step !== totalSteps) return;
      const rate = (tokens / seconds).toFixed(0);
      context.note(
        `step ${String(step).padStart(5)}/${totalSteps}  loss ${loss.toFixed(4)}  ${rate.padStart(6)} tokens/s`,
      );
    },
  };
  return { observer, stop: () => progress?.stop() };
}

function measures({ loss, em }: SftCheck): string {
  const parts = [
    ...(loss === null ? [] : [`loss ${loss.toFixed(4)}`]),
    ...(em === null ? [] : [`EM ${em.toFixed(3)}`]),
  ];
  return parts.join(", ");
}

function asText(result: SftResult, run: string, wallSeconds: number): string {
  const { steps, loss, policy, checkpoint, stoppedEarly, validation } = result;
  const said = loss === null ? "" : `, loss ${loss.toFixed(4)} nats a token`;
  const early = stoppedEarly ? ", stopped early: held-out data were learned no better" : "";
  return [
    ...(validation === null ? [] : [validationTable(validation), ""]),
    `${steps} steps in ${wallSeconds.toFixed(0)} s${said}${early}`,
    `policy      ${policy}`,
    `checkpoint  ${checkpoint}`,
    `run         ${run}`,
  ].join("\n");
}

function validationTable(validation: NonNullable<SftResult["validation"]>): string {
  const columns = [
    "held out",
    { label: "step", format: formatCount },
    { label: "loss", format: fixed(4) },
    { label: "EM", format: fixed(3) },
  ];
  const rows = (["before", "last", "kept"] as const).map((name) => {
    const { step, loss, em } = validation[name];
    return [name, step, loss, em];
  });
  return renderText({ columns, rows });
}
