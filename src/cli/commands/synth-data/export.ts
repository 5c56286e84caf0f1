import { statSync } from "node:fs";
import { dirname } from "node:path";
import { formatBytes, plural } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { ExportOutcome } from "../../../exports/export-rows.ts";
import { exportFormats } from "../../../synth/exports/index.ts";
import { claimOutput, refuseOwnInput } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import { jsonFlag, overwriteFlag } from "../../options.ts";

/** `agentrl synth-data export`: samples and pairs in other programs' layouts. */
export const synthExport = defineCommand({
  name: "export",
  summary: "write samples or pairs in another program's layout",
  description:
    "Write samples or pairs in another program's layout, as JSON lines or Parquet (--out out.parquet). Our own layout is the file itself. docs/synthesis.md",
  args: [["<from>", "folder of a synthesis, or a file of samples or pairs"]],
  options: {
    as: ["<format>", "layout, of those below", exportFormats.names],
    out: ["<file>", "file to write"],
    overwrite: overwriteFlag(),
    hints: ["<use>", "what to do with inserted hints (default: remove)", ["remove", "keep"]],
    calls: [
      "<how>",
      "tool calls as text in the messages, or in the layout's own fields (default: what the layout expects)",
      ["text", "native"],
    ],
    tokenizer: ["<model>", "tokenizer of the token ids in the records (default: the teacher's)"],
    json: jsonFlag(),
  },
  required: ["as", "out"],
  more: (command) => {
    const formats = exportFormats.parts.map(({ name, summary }) => [`  ${name}`, summary]);
    command.addHelpText("after", `\nLayouts:\n${renderText({ rows: formats })}`);
  },
  async run({ as, out, overwrite, hints = "remove", calls, tokenizer, json }, context, from) {
    // The other files of the synthesis are beside a file of samples.
    const beside =
      statSync(from, { throwIfNoEntry: false })?.isFile() === true ? [dirname(from)] : [];
    refuseOwnInput(out, [from, ...beside], "--out");
    claimOutput(out, overwrite);
    const { requireWellFormed, runExport } = await import("../../../exports/export-rows.ts");
    const bar = { label: "exporting", total: 0, unit: "records" };
    const given = { from, format: as, out, hints, calls, tokenizer, signal: context.signal };
    const outcome = await withProgress(context, bar, (onRecord, download) =>
      runExport({ ...given, download, onRecord }),
    );
    const { loses, leftOut } = outcome;
    context.note(`${as} has no place for: ${loses.join("; ")}.`);
    for (const [reason, count] of Object.entries(leftOut))
      context.note(`left out ${count}: ${reason}.`);
    context.out(json === true ? JSON.stringify(outcome) : asText(outcome));
    requireWellFormed(outcome);
  },
});

function asText({ records, rows, file, bytes }: ExportOutcome): string {
  return `${plural(records, "record")} → ${plural(rows, "row")}, ${formatBytes(bytes)}\n${file}`;
}
