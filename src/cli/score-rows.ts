import type { Command } from "commander";
import { metricNames } from "../evaluate/evaluation-summary.ts";
import { summarizeRowsFile } from "../evaluate/rows-file.ts";
import type { CliContext } from "./command.ts";
import { rowsBlocks } from "../view/documents/scores.ts";
import { parseRequirement, requireScores } from "./require-scores.ts";

/** The flags of `agentrl score --rows`. */
export interface RowsFlags {
  rows?: string;
  unaidedRows?: string;
  forcedRows?: string;
  seed?: number;
  require?: string[];
  json?: true;
}

/** The alternatives of `score` to --predictions. */
export function addRowsOptions(command: Command): void {
  command
    .option(
      "--rows <file>",
      "instead of --predictions: rows.jsonl of an evaluation, summed up again",
    )
    .option(
      "--unaided-rows <file>",
      "with --rows: the same questions without search (--strategy direct), for over-search",
    )
    .option(
      "--forced-rows <file>",
      "with --rows: the same questions always searched (--strategy rag), for searches that were missed",
    );
}

/** The figures of an evaluation from its rows, and the comparison with other runs of the same policy. */
export async function scoreRows(
  flags: RowsFlags & { rows: string },
  context: CliContext,
): Promise<void> {
  const { rows, unaidedRows, forcedRows, seed = 0, require = [], json } = flags;
  const source = { rows, unaided: unaidedRows, forced: forcedRows };
  const summary = await summarizeRowsFile(source, { seed });
  context.signal.throwIfAborted();
  const own = Object.keys(summary.metrics);
  const names = [...new Set([...metricNames(summary.samplesPerTask), ...own])];
  const requirements = require.map((text) => parseRequirement(text, names));
  context.out(json === true ? JSON.stringify(summary) : rowsBlocks(summary));
  requireScores(requirements, summary.metrics);
}
