import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic } from "../base/files.ts";
import { random } from "../base/random.ts";
import { SAMPLE_FILES } from "../trajectory/sample-files.ts";
import type { Candidate, Sample } from "../trajectory/sample.ts";
import { searchCount } from "../trajectory/search-count.ts";
import type { Task } from "../trajectory/task.ts";
import { DRAWS_FILE, type DrawnQuestion, isFinal, readDraws } from "./draw-log.ts";
import { openPipeline } from "./pipeline.ts";
import { openRowStore, type RowPlace, type RowStore } from "./row-store.ts";
import { sampleSelectors } from "./selectors/index.ts";
import type { SampleFacts } from "./selectors/selector.ts";
import type { StepResources } from "./steps/step.ts";
import type { SynthSettings } from "./synth-settings.ts";
import { type DrawYield, openDrawYields, type StepYield, yieldCounter } from "./yields.ts";

/** What is made of the draws of a folder. */
export interface SelectionSetting {
  /** Of a synthesis run: `draws.jsonl` is read, all else written. */
  folder: string;
  settings: SynthSettings;
  resources: StepResources;
  /** Of the run. */
  seed: number;
  signal: AbortSignal;
  /** Also writes what was dropped, with why, to `dropped.jsonl`. */
  keepDropped?: boolean;
  /** @param questions gone through so far. */
  onProgress?: (questions: number) => void;
}

/** What came of a selection. */
export interface Selection {
  /** Questions that were drawn. */
  questions: number;
  draws: DrawYield[];
  yields: StepYield[];
  /** Rollouts that failed, and what else did, by code. */
  failures: Record<string, number>;
  /** Rows and SHA-256 by name of the file. */
  files: Record<string, WrittenFile>;
}

export interface WrittenFile {
  rows: number;
  sha256: string;
}

const DROPPED_FILE = "dropped.jsonl";

/**
 * Runs the steps over a folder's draws, chooses among what is left and writes it, each file whole or not at all. Memory holds a few
 * numbers of each sample.
 *
 * @throws {DataError} what `readDraws` throws.
 * @throws {ConfigError} what steps and selectors throw.
 */
export async function selectSamples(setting: SelectionSetting): Promise<Selection> {
  const { folder, settings, keepDropped = false } = setting;
  const store = await openRowStore(join(folder, "selecting.tmp"));
  try {
    const passed = await runSteps(setting, store);
    const { facts, yields: more } = choose(setting, passed.samples);
    const written: Record<string, WrittenFile> = {};
    const write = async (file: string, rows: readonly KeptRow[]): Promise<void> => {
      written[file] = await writeRows(join(folder, file), rows, store);
    };
    const [training, validation] = split(setting, facts);
    await write(SAMPLE_FILES.samples, training);
    await write(SAMPLE_FILES.validation, validation);
    const [pairs, pairsValidation] = split(setting, passed.pairs);
    await write(SAMPLE_FILES.pairs, pairs);
    // Files of an earlier selection must not pass for this one's.
    if (settings.validation > 0) await write(SAMPLE_FILES.pairsValidation, pairsValidation);
    else await rm(join(folder, SAMPLE_FILES.pairsValidation), { force: true });
    if (keepDropped) await write(DROPPED_FILE, passed.dropped);
    else await rm(join(folder, DROPPED_FILE), { force: true });
    const { questions, draws, yields, failures } = passed;
    return { questions, draws, yields: [...yields, ...more], failures, files: written };
  } finally {
    await store.close();
  }
}

/** A row in the store, and the question that it belongs to. */
interface KeptRow {
  taskId: string;
  place: RowPlace;
}

/** A sample in the store. */
interface KeptSample extends KeptRow {
  facts: SampleFacts;
}

interface Passed extends Omit<Selection, "files"> {
  samples: KeptSample[];
  pairs: KeptRow[];
  dropped: KeptRow[];
}

async function runSteps(setting: SelectionSetting, store: RowStore): Promise<Passed> {
  const { folder, settings, resources, signal, keepDropped, onProgress } = setting;
  const pipeline = await openPipeline(settings.steps, resources);
  const sums = openDrawYields(settings.draws.map(({ name }) => name));
  const passed: Passed = {
    ...{ samples: [], pairs: [], dropped: [], questions: 0, draws: [], yields: [] },
    failures: {},
  };
  const shared = sharedTexts();
  const put = async (taskId: string, row: unknown): Promise<KeptRow> => {
    return { taskId, place: await store.add(`${JSON.stringify(row)}\n`) };
  };
  for await (const drawn of readDraws(join(folder, DRAWS_FILE))) {
    signal.throwIfAborted();
    sums.add(drawn);
    for (const code of failureCodes(drawn))
      passed.failures[code] = (passed.failures[code] ?? 0) + 1;
    const { task, candidates, pairs, dropped } = pipeline.apply(drawn);
    for (const candidate of candidates) {
      const row = await put(task.id, sampleOf(task, candidate));
      passed.samples.push({ ...row, facts: factsOf(task, candidate, shared) });
    }
    for (const pair of pairs) passed.pairs.push(await put(task.id, pair));
    if (keepDropped === true) {
      for (const { candidate, by, reason } of dropped) {
        const row = { dropped: { by, reason }, ...sampleOf(task, candidate) };
        passed.dropped.push(await put(task.id, row));
      }
    }
    passed.questions += 1;
    onProgress?.(passed.questions);
  }
  return { ...passed, draws: sums.yields(), yields: pipeline.yields() };
}

function failureCodes({ candidates, failed = [] }: DrawnQuestion): string[] {
  const rollouts = candidates.flatMap(({ trajectory }) =>
    isFinal(trajectory) ? [] : (trajectory.error?.code ?? []),
  );
  return [...rollouts, ...failed.map(({ code }) => code)];
}

/** A candidate with its question, as a file has it. */
export function sampleOf(task: Task, { id, ...candidate }: Candidate): Sample {
  return { id, task, ...candidate };
}

/** The one copy of each of a few texts that stand in many rows: every line that is read has its own. */
function sharedTexts(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const copy = known.get(text);
    if (copy !== undefined) return copy;
    known.set(text, text);
    return text;
  };
}

const NO_SCORES = {};

function factsOf(
  task: Task,
  { id, trajectory, scores, provenance }: Candidate,
  shared: (text: string) => string,
): SampleFacts {
  const { type = null, hops = null } = task.annotations;
  const length = trajectory.turns.reduce((sum, { text }) => sum + text.length, 0);
  return {
    ...{ id, taskId: task.id, type: type === null ? null : shared(type), hops },
    ...{ draw: shared(provenance.draw.name), reward: trajectory.reward },
    scores: Object.keys(scores).length === 0 ? NO_SCORES : scores,
    ...{ length, searches: searchCount(trajectory) },
  };
}

/** Runs the selectors in order. */
function choose(
  { settings, seed }: SelectionSetting,
  samples: readonly KeptSample[],
): { facts: readonly KeptRow[]; yields: StepYield[] } {
  if (settings.selection.length === 0) return { facts: samples, yields: [] };
  const rows = new Map(samples.map((sample) => [sample.facts.id, sample]));
  let left: readonly SampleFacts[] = samples.map(({ facts }) => facts);
  const yields = settings.selection.map(({ name, ...options }, i) => {
    const selector = sampleSelectors.get(name, "synth.selection");
    const stream = random(seed).derive("selection", i, name);
    const { kept, dropped } = selector.select(left, options, stream);
    const counter = yieldCounter(name, "selection");
    counter.count(left.length, { dropped }, kept.length);
    left = kept;
    return { ...counter.row, questions: new Set(kept.map(({ taskId }) => taskId)).size };
  });
  return { facts: left.flatMap(({ id }) => rows.get(id) ?? []), yields };
}

/** Rows of training and of validation: a question's stay together, whatever else there is. */
function split<R extends KeptRow>(
  { settings: { validation }, seed }: SelectionSetting,
  rows: readonly R[],
): [training: R[], validation: R[]] {
  const kept: [R[], R[]] = [[], []];
  const base = random(seed);
  for (const row of rows) {
    const apart = validation > 0 && base.derive("validation", row.taskId).next() < validation;
    kept[apart ? 1 : 0].push(row);
  }
  return kept;
}

/** Bytes that are written in one go. */
const PIECE = 1 << 20;

async function writeRows(
  path: string,
  rows: readonly KeptRow[],
  store: RowStore,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  await writeAtomic(path, async (write) => {
    let pieces: Buffer[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const piece = Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      hash.update(piece);
      await write(piece);
    };
    for (const { place } of rows) {
      pieces.push(await store.read(place));
      bytes += place.length;
      if (bytes >= PIECE) await flush();
    }
    await flush();
  });
  return { rows: rows.length, sha256: hash.digest("hex") };
}
