import { join } from "node:path";
import { definedValues } from "../../base/defined-values.ts";
import { DataError, ExternalError } from "../../base/errors.ts";
import { writeJson } from "../../base/files.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { MeterReading } from "../../http/meter.ts";
import { DRAWS_FILE, openDrawLog } from "../../synth/draw-log.ts";
import { type DrawProgress, drawQuestions } from "../../synth/draw.ts";
import { selectSamples, type Selection } from "../../synth/select.ts";
import type { Provenance } from "../../trajectory/sample.ts";
import type { RunRecord } from "../settings/resolved-yaml.ts";
import { runStage } from "../folder/run-file.ts";
import type { Session } from "../session.ts";
import type { StageResult, StageSession } from "../stages/stage.ts";
import { startRun } from "../folder/run-folder.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { findSynthesis, stepResources, synthOf, type Synthesis } from "./synthesis.ts";
import { SAMPLE_FILES } from "../../trajectory/sample-files.ts";

/** A synthesis beside its settings. */
export interface SynthOptions {
  /** Also writes what was dropped. */
  keepDropped?: boolean;
  /** Most failed rollouts that are tolerated; default 0. */
  allowErrors?: number;
}

/** What a run's manifest says of what it drew from. */
export interface SynthFacts {
  agentrl: string;
  recipe: string;
  tier: string;
  seed: number;
  teacher: Provenance["teacher"];
  dataset: string;
  /** Hashes of what a draw depends on (`settings`), of prompt and grammar, corpus and ranking, questions and passages. */
  hashes: Record<"settings" | "template" | "retriever" | "dataset", string>;
  /** Whether a tool or the retriever looked at the questions' gold. */
  readsGold: boolean;
}

/** What `synth.json` holds: the same for the same seed, so no times. */
export interface SynthResult extends SynthFacts, Selection {}

/** A synthesis as it went. */
export interface SynthOutcome extends StageResult {
  result: SynthResult;
  out: string;
  /** Of this run: draws that were taken over cost nothing. */
  drawn: { rollouts: number; seconds: number };
  /** What a server was asked in this run. */
  requests?: MeterReading;
}

const RESULT_FILE = "synth.json";

/**
 * Draws trajectories of a recipe's questions as its `synth` says, and selects samples from them.
 *
 * @throws {ConfigError} SYNTHESIS_EXISTS when the folder holds draws and `resume` is not set, or draws under other settings.
 * @throws {ExternalError} SYNTHESIS_GIVEN_UP when 24 rollouts in a row fail; SYNTHESIS_INCOMPLETE, after everything is written, when
 *   more failed than are allowed.
 * @throws {DataError} when dataset, index or model cannot be read, each by its own code.
 */
export async function drawAndSelect(
  session: StageSession,
  options: SynthOptions = {},
): Promise<SynthOutcome> {
  const { settings, record, out, version, signal, download } = session;
  const synthesis = await findSynthesis(settings, { ...download, version, signal });
  try {
    const facts = factsOf(record, settings, synthesis);
    const given = { ...session, ...options, facts };
    const { progress, requests, seconds } = await draw(synthesis, given);
    const result = await selectInto(out, settings, given);
    requireComplete(result, options.allowErrors ?? 0);
    const drawn = { rollouts: progress.rollouts, seconds };
    return { policy: null, result, out, drawn, requests };
  } finally {
    await synthesis.close();
  }
}

async function draw(
  synthesis: Synthesis,
  options: StageSession & SynthOptions & { facts: SynthFacts },
): Promise<{ progress: DrawProgress; requests: MeterReading | undefined; seconds: number }> {
  const { out, resume = false, signal, countsFirst, onStart, onDraw, keepDropped, facts } = options;
  const { synth, dataset, origin, window } = synthesis;
  const log = await openDrawLog(join(out, DRAWS_FILE), { settings: origin.settings, resume });
  try {
    const stage = { number: 1, options: definedValues({ keepDropped }) };
    const stages = [runStage("synth", "synth", stage)];
    await startRun(out, options.record, {
      version: options.version,
      stages,
      manifest: { ...facts },
    });
    const opened = await synthesis.open();
    const begun = performance.now();
    try {
      const questions = countsFirst === true ? await countOf(dataset, synth.limit) : null;
      onStart?.({ total: questions, kept: log.kept });
      const tasks = dataset.stream(synth.limit);
      const progress = await drawQuestions(opened.setting, {
        tasks,
        log,
        window,
        signal,
        onProgress: onDraw,
      });
      await log.finish();
      const seconds = (performance.now() - begun) / 1000;
      return { progress, requests: opened.meter?.reading(), seconds };
    } finally {
      await opened.close();
    }
  } finally {
    await log.close();
  }
}

function factsOf(
  { recipe, tier }: RunRecord,
  { seed }: Settings,
  { dataset, origin, readsGold }: Synthesis,
): SynthFacts {
  const { agentrl, teacher, settings: hash, template, retriever } = origin;
  return {
    agentrl,
    recipe,
    tier,
    seed,
    teacher,
    dataset: dataset.name,
    hashes: { settings: hash, template, retriever, dataset: origin.dataset },
    readsGold,
  };
}

/** What a selection is given beside its settings. */
export type SelectOptions = Pick<Session, "signal" | "download" | "onSelect"> & SynthOptions;

/** Selects from a folder's draws and writes what came of it to `synth.json`. */
export async function selectInto(
  out: string,
  settings: Settings,
  options: SelectOptions & { facts: SynthFacts; drawsIn?: string },
): Promise<SynthResult> {
  const { signal, download, keepDropped = false, onSelect, facts, drawsIn } = options;
  const selection = await selectSamples({
    folder: out,
    drawsIn,
    settings: synthOf(settings),
    seed: settings.seed,
    signal,
    keepDropped,
    resources: await stepResources(settings, { ...download, signal }),
    onProgress: onSelect,
  });
  const result = { ...facts, ...selection };
  await writeJson(join(out, RESULT_FILE), result);
  return result;
}

/**
 * @param allowed rollouts that may have failed.
 * @throws {ExternalError} SYNTHESIS_INCOMPLETE
 */
export function requireComplete({ failures, firstFailure }: SynthResult, allowed: number): void {
  const count = Object.values(failures).reduce((sum, each) => sum + each, 0);
  if (count <= allowed) return;
  const codes = Object.entries(failures).map(([code, each]) => `${code} ${each}`);
  throw new ExternalError(
    "SYNTHESIS_INCOMPLETE",
    `${count} rollouts failed and gave no sample (${codes.join(", ")}); the first: ${(firstFailure ?? "unknown").replace(/\.$/, "")}. What was drawn is written; --resume asks them again, --allow-errors ${count} accepts them.`,
  );
}

/**
 * @param out the synthesis's folder, for the message.
 * @throws {DataError} SYNTHESIS_EMPTY when the steps and selectors kept neither a sample nor a pair.
 */
export function requireRows(out: string, { files, questions, yields }: SynthResult): void {
  const rows = [SAMPLE_FILES.samples, SAMPLE_FILES.validation, SAMPLE_FILES.pairs].map(
    (name) => files[name]?.rows ?? 0,
  );
  if (rows.some((count) => count > 0)) return;
  const drops = yields.flatMap(({ name, dropped }) =>
    Object.entries(dropped).map(([reason, count]) => `${name} dropped ${count} (${reason})`),
  );
  const why = drops.length === 0 ? "nothing was drawn" : drops.join(", ");
  throw new DataError(
    "SYNTHESIS_EMPTY",
    `${out}: no sample was kept of ${questions} questions: ${why}. What was drawn is written; change synth.steps or synth.selection and run agentrl synth-data select ${out} --set …, or draw with another teacher.`,
  );
}

async function countOf(dataset: Dataset, limit: number | undefined): Promise<number> {
  let count = 0;
  for await (const _ of dataset.stream(limit)) count += 1;
  return count;
}
