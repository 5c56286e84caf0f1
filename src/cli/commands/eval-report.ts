import { extname, join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { packageVersion } from "../../base/package-root.ts";
import type { TextFormat } from "../../view/report-formats.ts";
import { claimOutput, refuseOwnInput } from "../claim-output.ts";
import type { CliContext } from "../command.ts";
import { madeBy } from "../made-by.ts";
import { type ReadingFlags, readableResults } from "../report-reading.ts";
import { refuseStray } from "../stray-flags.ts";

export interface ResultReportFlags extends ReadingFlags {
  format?: TextFormat | "lm-eval";
  out?: string;
  overwrite?: true;
  json?: true;
  across?: string[];
}

export const RESULT_FORMATS = ["json", "jsonl", "csv", "md", "html", "lm-eval"] as const;

/** Results of folders as one of the formats, on stdout or in a file. */
export async function writeReport(
  places: string[],
  flags: ResultReportFlags,
  context: CliContext,
): Promise<void> {
  const { out, json, across } = flags;
  const format = flags.format ?? formatOf(out) ?? (json === true ? "json" : "md");
  if (json === true && out === undefined && format !== "json")
    throw new ConfigError(
      "USAGE",
      `--json and --format ${format} exclude each other on stdout. Name a file with --out, or leave one out.`,
    );
  if (format !== "html" && format !== "lm-eval")
    refuseStray(flags, ["tokenizer"], "--format html and lm-eval");
  if (format !== "html") refuseStray(flags, ["dataset"], "--format html");
  if (format !== "html" && format !== "md") refuseStray(flags, ["across"], "--format html and md");
  // The files of lm-eval have the time in their names.
  if (out !== undefined && format !== "lm-eval") {
    refuseOwnInput(out, places, "--out");
    claimOutput(out, flags.overwrite);
  }
  const { openResults } = await import("../../view/results-files.ts");
  const { reportText } = await import("../../view/report-formats.ts");
  const files = await openResults(places);
  const readsTrajectories = format === "html" || format === "lm-eval";
  const readable = readsTrajectories
    ? await readableResults(files, flags, context.note)
    : files.map((own) => ({ files: own, decode: null, goldOf: () => null }));
  if (format === "lm-eval") {
    const { writeLmEval } = await import("../../view/lm-eval.ts");
    if (out === undefined) {
      throw new ConfigError("USAGE", "--format lm-eval is a folder: name it by --out FOLDER.");
    }
    const given = { time: new Date(), version: packageVersion() };
    const paths: string[] = [];
    for (const { files: own, decode } of readable) {
      // Results of one policy on one dataset would get the same file names.
      const folder = readable.length === 1 ? out : join(out, own.name);
      paths.push(...(await writeLmEval(folder, own, { ...given, decode })));
    }
    context.out(json === true ? JSON.stringify({ out: paths }) : paths.join("\n"));
    return;
  }
  const pieces = reportText(readable, format, { made: madeBy(), across });
  if (out === undefined) {
    for await (const piece of pieces) {
      context.signal.throwIfAborted();
      context.document(piece);
    }
    return;
  }
  await writeAtomic(out, async (write) => {
    for await (const piece of pieces) {
      context.signal.throwIfAborted();
      await write(piece);
    }
  });
  if (json === true) context.out(JSON.stringify({ out: [out] }));
  context.note(`written to ${out}`);
}

/** @throws {ConfigError} USAGE for another file extension. @example formatOf("runs/a/report.html") // "html" */
function formatOf(out = ""): TextFormat | undefined {
  const ending = extname(out);
  if (ending === "") return undefined;
  const known = RESULT_FORMATS.find((format) => ending === `.${format}`);
  if (known !== undefined && known !== "lm-eval") return known;
  throw new ConfigError(
    "USAGE",
    `--out ${out}: no format has the ending ${ending}. Known: .json, .jsonl, .csv, .md, .html; for another name add --format.`,
  );
}
