import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { loadChatTemplate } from "../chat/load-chat-template.ts";
import { AgentrlError, DataError } from "../base/errors.ts";
import { writeJsonl } from "../data/write-jsonl.ts";
import { environments } from "../env/environments/index.ts";
import type { HubModelOptions } from "../hub/hub-model.ts";
import { noneRetriever } from "../retrieval/controls/none.ts";
import type { Telling } from "../synth/exports/conversation.ts";
import type { ExportedRows } from "../synth/exports/export-format.ts";
import { exportFormats } from "../synth/exports/index.ts";
import { type TeacherFiles, teacherText } from "../synth/exports/teacher-text.ts";
import { loadTokenizer } from "../text/tokenizer.ts";
import type { Candidate } from "../trajectory/sample.ts";
import { readPairs, readSamples, SAMPLE_FILES } from "../trajectory/sample-files.ts";
import { baseFolder, policyFolder } from "./assemble.ts";

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
  download?: HubModelOptions;
  onRecord?: (records: number) => void;
}

export interface ExportOutcome {
  /** What was read. */
  from: string;
  file: string;
  format: string;
  records: number;
  rows: number;
  bytes: number;
  sha256: string;
  /** Records that the format cannot hold, by reason. */
  leftOut: Record<string, number>;
  /** What of every record it has no place for. */
  loses: readonly string[];
}

/**
 * Writes samples or pairs in another program's layout, one JSON object a line, streamed; the file appears whole or not at all.
 * @throws {ConfigError} PART_UNKNOWN
 * @throws {DataError} FILE_MISSING, DATA_BAD_RECORD, EXPORT_TOKENS; DATA_EMPTY when no row came of it.
 */
export async function runExport(options: RunExportOptions): Promise<ExportOutcome> {
  const format = exportFormats.get(options.format, "--as");
  const from = await recordsFile(options.from, format.takes);
  const teachers = teacherReader(options);
  const { toolSchemas: tools } = environments
    .get("search-qa", "export")
    .create({}, { retriever: noneRetriever() });
  const { hints, calls = format.calls, signal, out } = options;
  const told = async (candidate: Candidate, where: string): Promise<Telling> => {
    return { ...teacherText(await teachers(candidate), where), hints, calls, tools };
  };
  const outcome = { records: 0, leftOut: {} as Record<string, number> };
  const count = (made: ExportedRows): object[] => {
    outcome.records += 1;
    options.onRecord?.(outcome.records);
    if (typeof made !== "string") return made;
    outcome.leftOut[made] = (outcome.leftOut[made] ?? 0) + 1;
    return [];
  };
  async function* rows(): AsyncGenerator<object> {
    if (format.takes === "samples") {
      for await (const { row, where } of readSamples(from))
        yield* count(format.rows(row, await told(row, where), outcome.records));
    } else {
      for await (const { row, where } of readPairs(from))
        yield* count(format.rows(row, await told(row.chosen, where), outcome.records));
    }
    if (outcome.records === 0)
      throw new DataError(
        "DATA_EMPTY",
        `${from}: holds no ${format.takes}, so nothing was written.`,
      );
  }
  const written = await writeJsonl(out, rows(), signal);
  const { records: rowCount, bytes, sha256 } = written;
  return {
    ...{ from, file: out, format: format.name, ...outcome, rows: rowCount, bytes, sha256 },
    loses: format.loses,
  };
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

async function teacherFiles(from: string, download: HubModelOptions): Promise<TeacherFiles> {
  const model = await policyFolder(from, download);
  const folder = (await baseFolder(model, download)) ?? model;
  const template = await loadChatTemplate(folder).catch((error: unknown) => {
    if (error instanceof AgentrlError && error.code === "CHAT_TEMPLATE_MISSING") return null;
    throw error;
  });
  return { tokenizer: await loadTokenizer(folder), template };
}
