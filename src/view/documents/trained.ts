/** What a training ended with: its measurements, its files, and last the verdict in one line. */
import {
  formatCount,
  formatDifference,
  formatDuration,
  formatLoss,
  formatScore,
} from "../../base/format.ts";
import type { RecipeResult } from "../../run/run-recipe.ts";
import type { SftResult } from "../../run/sft/open-sft.ts";
import type { PreferenceResult } from "../../run/sft/run-preference.ts";
import { type Block, strong, table } from "../document.ts";
import { changeBlocks, READS_GOLD } from "./scores.ts";

/** `agentrl train`. */
export function trainedBlocks({
  run,
  device,
  steps,
  checkpoint,
  wallSeconds,
  eval: around,
}: RecipeResult): Block[] {
  const { before, after, sets = {} } = around;
  const controls = Object.entries(sets).filter(([, each]) => each.after.readsGold);
  const warnings = [
    ...(after.readsGold ? [READS_GOLD] : []),
    ...controls.map(([set]) => `set ${set}: ${READS_GOLD}`),
  ];
  // A world that pays has no answers to compare.
  const name = after.metrics.return === undefined ? "em" : "return";
  const [was, is] = [before.metrics[name] ?? 0, after.metrics[name] ?? 0];
  const verdict = `${name === "em" ? "EM" : name} ${formatScore(was)} → ${formatScore(is)} (${formatDifference(is - was)}) on ${formatCount(after.n)} held-out questions`;
  return [
    ...changeBlocks(around),
    ...warnings.map((text): Block => ({ kind: "warning", text })),
    ...ending(
      { run, checkpoint },
      `${steps} steps in ${formatDuration(wallSeconds)} on ${device}`,
      verdict,
    ),
  ];
}

/** `agentrl sft`. */
export function fineTunedBlocks(result: SftResult, run: string, wallSeconds: number): Block[] {
  const { steps, loss, policy, checkpoint, stoppedEarly, validation } = result;
  const names = ["before", "last", "kept"] as const;
  const columns = [
    "held out",
    { label: "step", format: formatCount },
    { label: "loss", format: formatLoss },
    { label: "EM", format: formatScore },
  ];
  const rows = names.map((name) => {
    const { step = null, loss: own = null, em = null } = validation?.[name] ?? {};
    return [name, step, own, em];
  });
  const said = loss === null ? "" : `, loss ${formatLoss(loss)} nats a token`;
  const early = stoppedEarly ? ", stopped early: held-out data were learned no better" : "";
  return [
    ...(validation === null ? [] : [table("Held-out samples", columns, rows)]),
    ...ending(
      { run, checkpoint, policy },
      `${steps} steps in ${formatDuration(wallSeconds)}${said}${early}`,
    ),
  ];
}

/** `agentrl dpo`. */
export function preferenceBlocks(
  result: PreferenceResult,
  run: string,
  wallSeconds: number,
): Block[] {
  const { steps, pairs, stoppedEarly, validation, policy, checkpoint } = result;
  const early = stoppedEarly ? " (ended early: the validation loss rose)" : "";
  const names = ["losses/preference", "rewards/margin", "rewards/accuracy"];
  const formats = [formatLoss, formatLoss, formatScore];
  const columns = ["loss", "margin", "accuracy"].map((label, i) => ({ label, format: formats[i] }));
  const rows = (["before", "after"] as const).map((when) => {
    const measured = validation?.[when];
    return [when, ...names.map((name) => measured?.[`validation/${name}`] ?? null)];
  });
  return [
    ...(validation === null ? [] : [table("Held-out pairs", ["held out", ...columns], rows)]),
    ...ending(
      { run, checkpoint, policy },
      `${steps} steps on ${pairs} pairs in ${formatDuration(wallSeconds)}${early}`,
    ),
  ];
}

function ending(
  { run, checkpoint, policy }: { run: string; checkpoint: string; policy?: string },
  done: string,
  verdict = "",
): Block[] {
  return [
    {
      kind: "facts",
      facts: [
        ...(policy === undefined ? [] : [["policy", policy] as const]),
        ["checkpoint", checkpoint],
        ["run", run],
      ],
    },
    {
      kind: "text",
      text: [strong(verdict === "" ? done : verdict), verdict !== "" && `, ${done}`],
    },
  ];
}
