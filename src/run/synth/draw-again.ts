import { dirname } from "node:path";
import { ConfigError, ExternalError } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";
import { quote, z } from "../../base/schema.ts";
import { questionDrawer } from "../../synth/draw.ts";
import { type PipelineResult, openPipeline, sampleOf } from "../../synth/select.ts";
import { readRows, taskShape } from "../../trajectory/sample-files.ts";
import type { PolicyDownload } from "../assemble.ts";
import { type SynthFolder, openSynthFolder } from "./synth-folder.ts";
import { type Synthesis, findSynthesis, stepResources } from "./synthesis.ts";

export interface DrawAgainOptions {
  /** Rows by their ids; all where absent. */
  ids?: readonly string[];
  /** At most so many rows, from the start of the file. */
  limit?: number;
  signal: AbortSignal;
  /** When the teacher is a model of the hub. */
  download?: PolicyDownload;
  /** @param rows compared so far. */
  onProgress?: (rows: number) => void;
}

/** A row that came out otherwise. */
export interface UnlikeRow {
  id: string;
  /** Keys to the first difference; null: the row did not come out at all. */
  at: string | null;
  was: string;
  now: string;
}

export interface DrawnAgain {
  file: string;
  teacher: string;
  /** Rows that were compared. */
  rows: number;
  /** Of them, equal to the byte. */
  same: number;
  unlike: UnlikeRow[];
}

const rowShape = z.looseObject({ id: z.string(), task: taskShape });
type Row = z.output<typeof rowShape>;

/**
 * Draws rows of samples or pairs again, from the settings of the folder that they lie in, and compares them with what stands there.
 *
 * A question is drawn whole, since steps look at all draws of it. A step that remembers earlier questions sees those of the rows alone.
 *
 * @throws {ConfigError} USAGE for an id that the file does not have.
 * @throws {ExternalError} SYNTHESIS_UNLIKE when dataset, retriever, teacher or template are not what they were.
 */
export async function drawAgain(file: string, options: DrawAgainOptions): Promise<DrawnAgain> {
  const { signal, download, onProgress } = options;
  const wanted = await wantedRows(file, options);
  const folder = await openSynthFolder(dirname(file));
  const { settings } = folder.resolved;
  // What another version writes otherwise shows in the rows, not in its name.
  const version = folder.facts.agentrl;
  const synthesis = await findSynthesis(settings, { ...download, signal, version });
  try {
    requireUnchanged(file, folder, synthesis);
    const opened = await synthesis.open();
    try {
      const draw = questionDrawer(opened.setting);
      const resources = await stepResources(settings, { ...download, signal });
      const pipeline = await openPipeline(synthesis.synth.steps, resources);
      const unlike: UnlikeRow[] = [];
      let rows = 0;
      for await (const task of synthesis.dataset.stream(synthesis.synth.limit)) {
        const own = wanted.get(task.id);
        if (own === undefined) continue;
        const result = pipeline.apply(await draw(task, signal));
        unlike.push(...own.flatMap((row) => differenceOf(row, result) ?? []));
        rows += own.length;
        wanted.delete(task.id);
        onProgress?.(rows);
        if (wanted.size === 0) break;
      }
      const teacher = folder.facts.teacher.name;
      return { file, teacher, rows, same: rows - unlike.length, unlike };
    } finally {
      await opened.close();
    }
  } finally {
    await synthesis.close();
  }
}

/** Rows to be compared, by their question. */
async function wantedRows(
  file: string,
  { ids, limit = Infinity }: DrawAgainOptions,
): Promise<Map<string, Row[]>> {
  const missing = new Set(ids);
  const wanted = new Map<string, Row[]>();
  let count = 0;
  for await (const { row } of readRows<Row>(file, rowShape, "a sample or pair")) {
    if (count >= limit || (ids !== undefined && missing.size === 0)) break;
    if (ids !== undefined && !missing.delete(row.id)) continue;
    wanted.set(row.task.id, [...(wanted.get(row.task.id) ?? []), row]);
    count += 1;
  }
  if (missing.size > 0 && count < limit) {
    const [first = ""] = missing;
    throw new ConfigError(
      "USAGE",
      `--id is ${JSON.stringify(first)}; ${file} has no such row. Ids stand at the beginning of each line.`,
    );
  }
  return wanted;
}

/** @throws {ExternalError} SYNTHESIS_UNLIKE */
function requireUnchanged(file: string, { facts }: SynthFolder, { origin }: Synthesis): void {
  if (origin.settings === facts.hashes.settings) return;
  const now: Record<string, string> = { ...facts.hashes };
  for (const key of ["template", "retriever", "dataset", "settings"] as const)
    now[key] = origin[key];
  const teacher = [JSON.stringify(facts.teacher), JSON.stringify(origin.teacher)] as const;
  const changed = Object.entries(facts.hashes)
    .filter(([key, hash]) => now[key] !== hash)
    .map(([key, hash]) => `${key} was ${hash}, is ${now[key] ?? ""}`);
  if (teacher[0] !== teacher[1]) changed.unshift(`teacher was ${teacher[0]}, is ${teacher[1]}`);
  throw new ExternalError(
    "SYNTHESIS_UNLIKE",
    `${file}: what it was drawn from is not what it was (${changed.join("; ")}), so its rows cannot come out the same. Bring that back to draw them again.`,
  );
}

/** Where a row that was drawn again differs from what stood there; null: nowhere. */
function differenceOf(
  row: Row,
  { task, candidates, pairs, dropped }: PipelineResult,
): UnlikeRow | null {
  const { id } = row;
  const candidate = candidates.find((each) => each.id === id);
  const pair = pairs.find((each) => each.id === id);
  const now = "chosen" in row ? pair : candidate && sampleOf(task, candidate);
  if (now === undefined) {
    const why = dropped.find((each) => each.candidate.id === id);
    const said = why === undefined ? "not there" : `dropped by ${why.by}: ${why.reason}`;
    return { id, at: null, was: "kept", now: said };
  }
  if (JSON.stringify(row) === JSON.stringify(now)) return null;
  const then = new Map([...leavesOf(row)].map(([keys, value]) => [keys.join("."), value]));
  for (const [keys, value] of leavesOf(now)) {
    const at = keys.join(".");
    if (then.get(at) !== value && quote(then.get(at)) !== quote(value))
      return { id, at, was: quote(then.get(at)), now: quote(value) };
    then.delete(at);
  }
  const [gone] = then;
  // Nothing but the order of keys.
  if (gone === undefined) return { id, at: "", was: "other order of keys", now: "" };
  return { id, at: gone[0], was: quote(gone[1]), now: quote(undefined) };
}
