import type { EvaluationSummary } from "../../evaluate/evaluation-summary.ts";
import type { OnPolicyStep } from "../../train/on-policy.ts";
import type { RewardCheckFacts } from "../../recipe/check-rewards.ts";
import type { HeldOutEvaluation } from "../../recipe/held-out-evaluation.ts";
import type { RecipeResult } from "../../recipe/run-recipe.ts";
import type { Stage } from "../../recipe/stages.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { watchDownload } from "../model-download.ts";
import { packageVersion } from "../package-info.ts";
import { startProgress, type Progress } from "../progress.ts";
import {
  addRecipeOptions,
  defaultRunFolder,
  settingsOf,
  type RecipeFlags,
} from "../recipe-options.ts";
import { READS_GOLD } from "../evaluation-text.ts";
import { rewardCheckLine } from "../reward-check-text.ts";
import { table } from "../table.ts";

/** `agentrl train`: a recipe's reinforcement learning, evaluated before and after. */
export const trainCommand: CliCommand = {
  name: "train",
  register(program, context) {
    addRecipeOptions(
      program
        .command("train")
        .summary("train a policy with reinforcement learning")
        .description(
          "Train a policy as a recipe says: evaluate, learn from its own searches, evaluate again on the same held-out questions.",
        ),
      "run folder; runs/<recipe>-<tier>-seed<N> when absent",
    )
      .option(
        "--model <name>",
        "policy to start from: a Hugging Face folder, or org/name[@revision] of the hub",
      )
      .option("--resume", "go on from the newest checkpoint of the run folder")
      .action(async (flags: RecipeFlags & { model?: string; resume?: true }) => {
        const { runRecipe } = await import("../../recipe/run-recipe.ts");
        const { model } = flags;
        const own = { key: "policy.from", value: model, origin: "--model" };
        const resolved = await settingsOf(flags, model === undefined ? [] : [own]);
        const out = flags.out ?? defaultRunFolder(resolved);
        const watch = watcher(context);
        const download = watchDownload(context);
        context.note(
          `${resolved.recipe.name}, tier ${resolved.tier}, seed ${resolved.settings.seed} → ${out}`,
        );
        try {
          const result = await runRecipe(resolved, {
            ...{ out, version: packageVersion(), signal: context.signal },
            ...{ resume: flags.resume === true, ...watch.observer, download: download.options },
          });
          if (flags.json === true) context.out(JSON.stringify(asJson(result)));
          else context.out(asText(result));
        } finally {
          download.stop();
          watch.stop();
        }
      });
  },
};

/** Columns of the step table: heading, metric, and how it is written. */
const COLUMNS: readonly (readonly [string, string, (value: number) => string])[] = [
  ["reward", "rollout/reward_mean", (v) => v.toFixed(3)],
  ["EM", "reward/exact-match", (v) => v.toFixed(3)],
  ["searches", "rollout/searches", (v) => v.toFixed(2)],
  ["answered", "rollout/answer_rate", (v) => v.toFixed(2)],
  ["entropy", "rollout/entropy", (v) => v.toFixed(3)],
  ["KL", "losses/kl", (v) => v.toFixed(4)],
  ["flat groups", "rollout/zero_variance_share", (v) => v.toFixed(2)],
];

function watcher(context: CliContext): { observer: object; stop(): void } {
  let progress: Progress | null = null;
  let rows = 0;
  let stage = "";
  const stop = (): void => {
    progress?.stop();
    progress = null;
  };
  const observer = {
    onRewardCheck: (check: RewardCheckFacts | null) => {
      context.note(
        check === null ? "rewards: not checked (rewardCheck is false)" : rewardCheckLine(check),
      );
    },
    onEvaluationStart: (name: string, total: number) => {
      stop();
      progress = startProgress(context, { label: `evaluating ${name}`, total, unit: "questions" });
    },
    onEvaluationProgress: ({ done, em }: { done: number; em: number }) => {
      progress?.update(done, `EM ${em.toFixed(3)}`);
    },
    onEvaluation: (name: string, { metrics, n }: EvaluationSummary) => {
      stop();
      context.note(`${name} training: EM ${metrics.em.toFixed(3)} on ${n} held-out questions`);
    },
    onStage: ({ number, name, do: kind }: Stage, total: number, kept: boolean) => {
      stop();
      rows = 0;
      stage = name;
      const called = name === kind ? name : `${name} (${kind})`;
      context.note(`stage ${number}/${total}: ${called}${kept ? ", done before" : ""}`);
    },
    onStageProgress: ({
      done,
      total,
      note,
    }: {
      done: number;
      total: number | null;
      note: string;
    }) => {
      const unit = total === null ? "questions" : "steps";
      progress ??= startProgress(context, { label: stage, total: total ?? 0, unit });
      progress.update(done, note);
    },
    onStep: (step: OnPolicyStep & { totalSteps: number }) => {
      const digits = String(step.totalSteps).length;
      const heads = ["step", ...COLUMNS.map(([head]) => head), "tokens/s"];
      const aligned = (cells: readonly string[]): string =>
        cells.map((cell, i) => cell.padStart(columnWidth(heads[i] ?? "", digits))).join("  ");
      if (rows === 0) {
        stop();
        context.note(aligned(heads));
        progress = startProgress(context, {
          label: "training",
          total: step.totalSteps,
          unit: "steps",
        });
      }
      rows += 1;
      const seconds = (step.timings.rollout + step.timings.update) / 1000;
      const cells = [
        `${String(step.step).padStart(digits)}/${step.totalSteps}`,
        ...COLUMNS.map(([, metric, write]) => write(step.metrics[metric] ?? 0)),
        ((step.tokens.sampled + step.tokens.trained) / seconds).toFixed(0),
      ];
      context.note(aligned(cells));
      progress?.update(step.step);
    },
  };
  return { observer, stop };
}

/** As wide as the heading or the widest value: `40/40`, `0.0123`. */
function columnWidth(head: string, stepDigits: number): number {
  return Math.max(head.length, head === "step" ? 2 * stepDigits + 1 : 6);
}

function asJson(result: RecipeResult): unknown {
  const { run, device, steps, checkpoint, wallSeconds, eval: evaluations, stages } = result;
  const { before, after } = evaluations;
  const flat = ({ n, metrics, groups, fingerprint, readsGold }: HeldOutEvaluation): unknown => {
    return { n, ...metrics, groups, fingerprint, readsGold };
  };
  return {
    run,
    device,
    steps,
    checkpoint,
    wallSeconds,
    eval: { before: flat(before), after: flat(after) },
    ...(stages === undefined ? {} : { stages }),
  };
}

const SUMMARY: readonly (readonly [string, keyof EvaluationSummary["metrics"], number])[] = [
  ["EM", "em", 3],
  ["F1", "f1", 3],
  ["cover-EM", "cover_em", 3],
  ["searches / question", "searches", 2],
  ["answer rate", "answer_rate", 3],
  ["format rate", "format_rate", 3],
];

function asText({
  run,
  device,
  steps,
  checkpoint,
  wallSeconds,
  eval: { before, after },
}: RecipeResult): string {
  const change = (b: number, a: number, digits: number): string[] => [
    ...[b.toFixed(digits), a.toFixed(digits)],
    `${a >= b ? "+" : "−"}${Math.abs(a - b).toFixed(digits)}`,
  ];
  const metricRows = SUMMARY.map(([label, key, digits]) => {
    return [label, ...change(before.metrics[key] ?? 0, after.metrics[key] ?? 0, digits)];
  });
  const hopRows = Object.entries(before.groups.hops).map(([hops, group]) => {
    const then = after.groups.hops[hops];
    return [`EM, ${hops}`, ...change(group.metrics.em, then?.metrics.em ?? 0, 3)];
  });
  const head = [`${after.n} questions`, "before", "after", "change"];
  const align = ["left", "right", "right", "right"] as const;
  return [
    table([...metricRows, ...hopRows], { head, align: [...align] }),
    "",
    `${steps} steps in ${wallSeconds.toFixed(0)} s on ${device}`,
    `checkpoint  ${checkpoint}`,
    `run         ${run}`,
    ...(after.readsGold ? ["", READS_GOLD] : []),
  ].join("\n");
}
