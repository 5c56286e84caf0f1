import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { partSchema } from "../base/define-part.ts";
import { AgentrlError, DataError } from "../base/errors.ts";
import { withParts } from "../base/registry.ts";
import { loadChatTemplate } from "../chat/load-chat-template.ts";
import { writeJsonl } from "../data/write-jsonl.ts";
import { writeParquet } from "../data/write-parquet.ts";
import { strategies } from "../rollout/strategies/index.ts";
import { baseFolder, environmentOver, policyFolder, searchlessFor } from "../run/assemble.ts";
import type { PolicyOptions } from "../run/bases.ts";
import { settingsOfFolder } from "../run/synth/synth-folder.ts";
import { type Message, type Telling, conversationsOf } from "../synth/exports/conversation.ts";
import type { ExportedRows, PairFormat, SampleFormat } from "../synth/exports/export-format.ts";
import { exportFormats } from "../synth/exports/index.ts";
import { misread } from "../synth/exports/read-back.ts";
import { type TeacherFiles, teacherText } from "../synth/exports/teacher-text.ts";
import { loadTokenizer } from "../text/tokenizer.ts";
import { SAMPLE_FILES, readPairs, readSamples } from "../trajectory/sample-files.ts";
import type { Candidate } from "../trajectory/sample.ts";

export interface RunExportOptions {
  /** The folder of a synthesis, or a file of samples or pairs. */
  from: string;
  /** Name of the format. */
  format: string;
  out: string;
  hints: Telling["hints"];
  /** How tool calls are written; the format's own way when absent. */
  calls?: Telling["calls"];
  /** Folder or name of the model whose tokens the records hold, instead of what their provenance names. */
  tokenizer?: string;
  signal: AbortSignal;
  download?: PolicyOptions;
  onRecord?: (records: number) => void;
}

interface ExportCounts {
  records: number;
  /** Records that the format cannot hold, by reason. */
  leftOut: Record<string, number>;
  /** Records that the run's protocol cannot read back: all counted, the first named with what is wrong. */
  malformed: { count: number; first: { id: string; wrong: string }[] };
}

export interface ExportOutcome extends ExportCounts {
  /** What was read. */
  from: string;
  file: string;
  format: string;
  rows: number;
  bytes: number;
  sha256: string;
  /** What of every record it has no place for. */
  loses: readonly string[];
}

/**
 * Writes samples or pairs in another program's layout, as JSON lines or, for a name that ends in .parquet, as Parquet, streamed; the file appears whole or not at all. The run's
 * own protocol reads every message back before it is written; a record that it cannot read is left out.
 * @throws {ConfigError} PART_UNKNOWN
 * @throws {DataError} FILE_MISSING, DATA_BAD_RECORD, EXPORT_TOKENS; DATA_EMPTY for a file without records; EXPORT_MALFORMED if no record
 *   can be read back.
 */
export async function runExport(options: RunExportOptions): Promise<ExportOutcome> {
  const format = exportFormats.get(options.format, "--as");
  const from = await recordsFile(options.from, format.takes);
  const teachers = teacherReader(options);
  const settings = await settingsOfFolder(dirname(from));
  const { protocol, toolSchemas: tools } = environmentOver(searchlessFor(settings), settings);
  const { hints, calls = format.calls, signal, out } = options;
  const told = async (candidate: Candidate, where: string): Promise<Telling> => {
    const text = teacherText(await teachers(candidate), where);
    return { ...text, hints, calls, protocol, tools };
  };
  const outcome = noRecords();
  const count = (id: string, made: ExportedRows | Malformed): object[] => {
    outcome.records += 1;
    options.onRecord?.(outcome.records);
    if (Array.isArray(made)) return made;
    if (typeof made === "string") outcome.leftOut[made] = (outcome.leftOut[made] ?? 0) + 1;
    else {
      outcome.malformed.count += 1;
      if (outcome.malformed.count <= NAMED) outcome.malformed.first.push({ id, ...made });
    }
    return [];
  };
  async function* rows(): AsyncGenerator<object> {
    // The columns of a Parquet file are found by a pass of their own.
    Object.assign(outcome, noRecords());
    let written = 0;
    for await (const { id, made } of format.takes === "samples"
      ? sampleRows(from, format, told)
      : pairRows(from, format, told)) {
      const own = count(id, made);
      written += own.length;
      yield* own;
    }
    if (outcome.records === 0)
      throw new DataError("DATA_EMPTY", `${from}: has no ${format.takes}; nothing was written.`);
    if (written === 0) requireWellFormed({ ...outcome, from });
  }
  const written = out.endsWith(".parquet")
    ? await writeParquet(out, rows, signal)
    : await writeJsonl(out, rows(), signal);
  const { records: rowCount, bytes, sha256 } = written;
  return {
    from,
    file: out,
    format: format.name,
    ...outcome,
    rows: rowCount,
    bytes,
    sha256,
    loses: format.loses,
  };
}

function noRecords(): ExportCounts {
  return { records: 0, leftOut: {}, malformed: { count: 0, first: [] } };
}

/** Records left out that the outcome names. */
const NAMED = 20;

interface Malformed {
  wrong: string;
}

type Teller = (candidate: Candidate, where: string) => Promise<Telling>;

async function* sampleRows(from: string, format: SampleFormat, told: Teller) {
  let index = 0;
  for await (const { row, where } of readSamples(from)) {
    const telling = await told(row, where);
    const conversations = conversationsOf(row.trajectory, telling);
    const wrong = await misreadOf(row, conversations, telling);
    const made = wrong ?? format.rows(row, conversations, telling, index);
    index += 1;
    yield { id: row.id, made };
  }
}

/** A pair's rejected side may break the protocol: that may be why it was rejected. */
async function* pairRows(from: string, format: PairFormat, told: Teller) {
  for await (const { row, where } of readPairs(from)) {
    const telling = await told(row.chosen, where);
    const chosen = conversationsOf(row.chosen.trajectory, telling);
    const rejected = conversationsOf(row.rejected.trajectory, telling);
    const wrong = await misreadOf(row.chosen, chosen, telling);
    yield { id: row.id, made: wrong ?? format.rows(row, { chosen, rejected }, telling) };
  }
}

async function misreadOf(
  { trajectory, provenance }: Candidate,
  conversations: readonly Message[][],
  { protocol, tools }: Telling,
): Promise<Malformed | null> {
  const { name } = await withParts(() => partSchema(strategies).parse(provenance.strategy));
  const follows = strategies.get(name, "strategy").prompts !== "own";
  for (const messages of conversations) {
    const wrong = misread(messages, trajectory.turns, { protocol, tools, follows });
    if (wrong !== null) return { wrong };
  }
  return null;
}

/** @throws {DataError} EXPORT_MALFORMED when records were left out because the protocol cannot read them. */
export function requireWellFormed({
  from,
  records,
  malformed: { count, first },
}: Pick<ExportOutcome, "from" | "records" | "malformed">): void {
  const [one] = first;
  if (one === undefined) return;
  throw new DataError(
    "EXPORT_MALFORMED",
    `${from}: the run's protocol cannot read ${count} of ${records} records, which were not written, for example ${one.id} (${one.wrong}). The step "format" drops such samples when they are selected: agentrl synth-data select ${dirname(from)} --set 'synth.steps=[answered, correct, format]'`,
  );
}

async function recordsFile(from: string, takes: "samples" | "pairs"): Promise<string> {
  const isFolder = await stat(from).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return from;
  const file = join(from, SAMPLE_FILES[takes]);
  if (existsSync(file)) return file;
  throw new DataError(
    "FILE_MISSING",
    `${from}: has no ${SAMPLE_FILES[takes]}, which is what this format is made of. Name the folder of a synthesis that wrote one, or a file.`,
  );
}

/** Finds how each record's teacher is read, once a teacher. */
function teacherReader({
  tokenizer,
  download = {},
}: RunExportOptions): (candidate: Candidate) => Promise<TeacherFiles | null> {
  const known = new Map<string, Promise<TeacherFiles>>();
  return async ({ trajectory, provenance: { teacher } }) => {
    const own = teacher.name === "gold-chain" ? "base" : teacher.from;
    const from = tokenizer ?? own;
    const hasIds = trajectory.calls.some(({ prompt }) => prompt.some(({ ids }) => ids.length > 0));
    if (from === undefined || !hasIds) return null;
    const files = known.get(from) ?? teacherFiles(from, download);
    known.set(from, files);
    return files;
  };
}

async function teacherFiles(from: string, download: PolicyOptions): Promise<TeacherFiles> {
  const model = await policyFolder(from, download);
  const folder = (await baseFolder(model, download)) ?? model;
  const template = await loadChatTemplate(folder).catch((error: unknown) => {
    if (error instanceof AgentrlError && error.code === "CHAT_TEMPLATE_MISSING") return null;
    throw error;
  });
  return { tokenizer: await loadTokenizer(folder), template };
}
