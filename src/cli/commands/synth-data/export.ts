import { statSync } from "node:fs";
import { dirname } from "node:path";
import { type Command, Option } from "commander";
import type { ExportOutcome } from "../../../exports/export-rows.ts";
import { exportFormats } from "../../../synth/exports/index.ts";
import { formatBytes, plural } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { CliContext } from "../../command.ts";
import { watchDownload } from "../../model-download.ts";
import { jsonOption, overwriteOption } from "../../options.ts";
import { refuseOwnInput, claimOutput } from "../../claim-output.ts";
import { type Progress, startProgress } from "../../progress.ts";

interface ExportFlags {
  as: string;
  out: string;
  overwrite?: true;
  hints?: "keep" | "remove";
  calls?: "text" | "native";
  tokenizer?: string;
  json?: true;
}

/** `agentrl synth-data export`: samples and pairs in other programs' layouts. */
export function addSynthExport(family: Command, context: CliContext): void {
  const formats = exportFormats.parts.map(({ name, summary }) => [`  ${name}`, summary]);
  family
    .command("export")
    .summary("write samples or pairs in another program's layout")
    .description(
      "Write samples or pairs in another program's layout, as JSON lines or Parquet (--out out.parquet). Our own layout is the file itself. docs/exports.md",
    )
    .argument("<from>", "folder of a synthesis, or a file of samples or pairs")
    .addOption(
      new Option("--as <format>", "layout, of those below")
        .choices(exportFormats.names)
        .makeOptionMandatory(),
    )
    .requiredOption("--out <file>", "file to write")
    .addOption(overwriteOption())
    .addOption(
      new Option("--hints <use>", "what to do with inserted hints (default: remove)").choices([
        "remove",
        "keep",
      ]),
    )
    .addOption(
      new Option(
        "--calls <how>",
        "tool calls as text in the messages, or in the layout's own fields (default: what the layout expects)",
      ).choices(["text", "native"]),
    )
    .option(
      "--tokenizer <model>",
      "tokenizer of the token ids in the records (default: the teacher's)",
    )
    .addOption(jsonOption())
    .addHelpText("after", `\nLayouts:\n${renderText({ rows: formats })}`)
    .action((from: string, flags: ExportFlags) => exportRecords(from, flags, context));
}

async function exportRecords(
  from: string,
  { as, out, overwrite, hints, calls, tokenizer, json }: ExportFlags,
  context: CliContext,
): Promise<void> {
  // The other files of the synthesis are beside a file of samples.
  const beside =
    statSync(from, { throwIfNoEntry: false })?.isFile() === true ? [dirname(from)] : [];
  refuseOwnInput(out, [from, ...beside], "--out");
  claimOutput(out, overwrite);
  const { requireWellFormed, runExport } = await import("../../../exports/export-rows.ts");
  const download = watchDownload(context);
  const progress: Progress = startProgress(context, {
    label: "exporting",
    total: 0,
    unit: "records",
  });
  try {
    const outcome = await runExport({
      from,
      format: as,
      out,
      hints: hints ?? "remove",
      signal: context.signal,
      calls,
      tokenizer,
      download: download.options,
      onRecord: (records) => {
        progress.update(records);
      },
    });
    progress.stop();
    const { loses, leftOut } = outcome;
    context.note(`${as} has no place for: ${loses.join("; ")}.`);
    for (const [reason, count] of Object.entries(leftOut))
      context.note(`left out ${count}: ${reason}.`);
    context.out(json === true ? JSON.stringify(outcome) : asText(outcome));
    requireWellFormed(outcome);
  } finally {
    download.stop();
    progress.stop();
  }
}

function asText({ records, rows, file, bytes }: ExportOutcome): string {
  return `${plural(records, "record")} → ${plural(rows, "row")}, ${formatBytes(bytes)}\n${file}`;
}
