import { formatScore } from "../../../base/format.ts";
import { packageVersion } from "../../../base/package-root.ts";
import type { Session } from "../../../run/session.ts";
import type { Settings } from "../../../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../../run/settings/settings.ts";
import type { SynthOutcome } from "../../../run/synth/run-synth.ts";
import { drawnText, synthesisBlocks } from "../../../view/documents/synthesis.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { watchDownload } from "../../model-download.ts";
import { type Flags, jsonFlag, options, outFlag, wholeNumber } from "../../options.ts";
import { type Progress, startProgress } from "../../progress.ts";
import { defaultRunFolder } from "../../recipe-options.ts";
import { SYNTH_OPTIONS, synthSettings } from "../../synth-flags.ts";

const OPTIONS = options({
  ...SYNTH_OPTIONS,
  out: outFlag("run folder; runs/<recipe>-<tier>-seed<N>-synth when absent"),
  resume: ["", "resume: keep the draws in --out and make the rest"],
  dropped: ["", "also write dropped samples to dropped.jsonl, with step and reason"],
  allowErrors: [
    "<n>",
    "exit with status 0 if at most n rollouts failed (default: 0); failed rollouts give no samples",
    wholeNumber(0),
  ],
  json: jsonFlag(),
});

type DrawFlags = Flags<typeof OPTIONS>;

/** `agentrl synth-data draw`, the default subcommand. */
export const synthDraw = defineCommand({
  name: "draw",
  isDefault: true,
  summary: "draw and select trajectories (the default: `agentrl synth-data --teacher …`)",
  description:
    "Let a teacher answer a dataset's questions, every search run for real, and select from what it wrote by the steps of the " +
    "recipe's `synth`. The draws are kept in draws.jsonl; samples.jsonl, validation.jsonl, pairs.jsonl and the yield table " +
    "synth.json are made from them. docs/synthesis.md tells more.",
  options: OPTIONS,
  run: drawSamples,
});

/** Draws and selects, with progress. */
export async function drawSamples(flags: DrawFlags, context: CliContext): Promise<void> {
  const resolved = await synthSettings(flags, context.note);
  const out = flags.out ?? `${defaultRunFolder(resolved)}-synth`;
  const { recipe, tier, settings } = resolved;
  context.note(`${recipe.name}, tier ${tier}, seed ${settings.seed} → ${out}`);
  const outcome = await run(resolved, { ...flags, out }, context);
  const { result } = outcome;
  if (flags.json === true) context.out(JSON.stringify({ ...result, ...summary(outcome) }));
  else context.out(synthesisBlocks(result, out));
  context.note(drawnText(outcome));
  const { requireComplete, requireRows } = await import("../../../run/synth/run-synth.ts");
  requireComplete(result, flags.allowErrors ?? 0);
  requireRows(out, result);
}

/** The parts of an outcome that differ from run to run, so they are not in the result. */
function summary({ out, drawn, requests }: SynthOutcome): object {
  return { out, drawn, requests };
}

async function run(
  resolved: ResolvedSettings<Settings>,
  { out, resume, dropped }: DrawFlags & { out: string },
  context: CliContext,
): Promise<SynthOutcome> {
  // The runtime is slow to load: not for --help.
  const { runAlone } = await import("../../../run/driver.ts");
  const { synthStage } = await import("../../../run/stages/shipped.ts");
  let progress: Progress | null = null;
  let total = 0;
  const stop = (): void => {
    progress?.stop();
    progress = null;
  };
  const begin = (label: string): Progress =>
    startProgress(context, { label, total, unit: "questions" });
  const download = watchDownload(context);
  let selecting = false;
  try {
    const options = { keepDropped: dropped === true, allowErrors: Infinity };
    const session: Session = {
      out,
      version: packageVersion(),
      signal: context.signal,
      download: download.options,
      resume: resume === true,
      countsFirst: context.terminal,
      onStart: ({ total: questions, kept }) => {
        if (kept > 0) context.note(`${kept} questions are taken over from ${out}.`);
        total = questions ?? 0;
        progress = begin("drawing");
      },
      onDraw: ({ questions, failed, reward }) => {
        const mean = reward === null ? "" : `reward ${formatScore(reward)}`;
        progress?.update(questions, `${mean}${failed === 0 ? "" : `, ${failed} failed`}`);
      },
      onSelect: (questions) => {
        if (!selecting) {
          stop();
          progress = begin("selecting");
        }
        selecting = true;
        progress?.update(questions);
      },
    };
    return await runAlone(synthStage, resolved, session, { options });
  } finally {
    download.stop();
    stop();
  }
}
