import type { CliCommand } from "../command.ts";
import { watchDownload } from "../model-download.ts";
import { packageVersion } from "../package-info.ts";
import { startProgress } from "../progress.ts";
import {
  addRecipeOptions,
  defaultRunFolder,
  settingsOf,
  type RecipeFlags,
} from "../recipe-options.ts";

/** `agentrl sft`: a recipe's supervised stages. */
export const sftCommand: CliCommand = {
  name: "sft",
  register(program, context) {
    addRecipeOptions(
      program
        .command("sft")
        .summary("fine-tune a policy on a teacher's trajectories")
        .description(
          "Fine-tune a policy on a teacher's trajectories, stage by stage, as a recipe says.",
        ),
      "run folder; runs/<recipe>-<tier>-seed<N> when absent",
    ).action(async (flags: RecipeFlags) => {
      const { runSft } = await import("../../recipe/run-sft.ts");
      const resolved = await settingsOf(flags);
      const out = flags.out ?? defaultRunFolder(resolved);
      context.note(
        `${resolved.recipe.name}, tier ${resolved.tier}, seed ${resolved.settings.seed} → ${out}`,
      );
      const total = (resolved.settings.sft?.stages ?? []).reduce(
        (sum, { steps }) => sum + steps,
        0,
      );
      const progress = startProgress(context, { label: "fine-tuning", total, unit: "steps" });
      const download = watchDownload(context);
      const begun = performance.now();
      let loss = NaN;
      try {
        const result = await runSft(resolved, {
          ...{ out, version: packageVersion(), signal: context.signal },
          download: download.options,
          onStep: (step) => {
            loss = step.loss;
            progress.update(step.step, `loss ${step.loss.toFixed(3)}`);
            const every = Math.max(1, Math.round(step.totalSteps / 20));
            if (step.step % every !== 0 && step.step !== step.totalSteps) return;
            const rate = (step.tokens / step.seconds).toFixed(0);
            context.note(
              `step ${String(step.step).padStart(5)}/${step.totalSteps}  loss ${step.loss.toFixed(4)}  ${rate.padStart(6)} tokens/s`,
            );
          },
        });
        const wallSeconds = Math.round((performance.now() - begun) / 100) / 10;
        if (flags.json === true)
          context.out(JSON.stringify({ run: out, ...result, loss, wallSeconds }));
        else {
          context.out(
            `${result.steps} steps in ${wallSeconds.toFixed(0)} s, loss ${loss.toFixed(4)} nats a token\npolicy      ${result.policy}\ncheckpoint  ${result.checkpoint}\nrun         ${out}`,
          );
        }
      } finally {
        download.stop();
        progress.stop();
      }
    });
  },
};
