import { join } from "node:path";
import type { Command } from "commander";
import { writeAtomic } from "../../../base/files.ts";
import type { CliContext } from "../../command.ts";
import { madeBy } from "../../made-by.ts";
import { jsonOption, outOption, overwriteOption } from "../../options.ts";
import { refuseOwnInput, claimOutput } from "../../claim-output.ts";
import { findOrigin } from "../../trace/trace-origin.ts";
import { findWords } from "../../trace/trace-texts.ts";

interface ReportFlags {
  out?: string;
  overwrite?: true;
  json?: true;
  tokenizer?: string;
}

/** Adds `report` to `agentrl synth-data`: a synthesis as a page. */
export function addSynthReport(parent: Command, context: CliContext): void {
  parent
    .command("report")
    .summary("one page with yields and every sample")
    .description(
      "A synthesis as one self-contained HTML page: what each draw gave, what each step let through and why, tool use with and " +
        "without hints, and every sample, coloured by who wrote what. Samples that were dropped are shown where the run kept them.",
    )
    .argument("<folder>", "of a synthesis, or the synth.json in it")
    .addOption(outOption("file to write (default: report.html in the folder)"))
    .addOption(overwriteOption())
    .addOption(jsonOption("path of the page as one JSON document on stdout: .out"))
    .option(
      "--tokenizer <folder>",
      "folder with the teacher's tokenizer.json, which decodes its tokens (default: the teacher's own folder)",
    )
    .action((folder: string, flags: ReportFlags) => report(folder, flags, context));
}

async function report(folder: string, flags: ReportFlags, context: CliContext): Promise<void> {
  const { openSynthesis } = await import("../../../view/synthesis-files.ts");
  const { synthesisDocument } = await import("../../../view/documents/synthesis.ts");
  const { documentPage } = await import("../../../view/html/page.ts");
  const files = await openSynthesis(folder);
  const { from } = files.synthesis.teacher;
  const origin = await findOrigin(join(files.folder, "draws.jsonl"));
  const named = flags.tokenizer ?? from ?? origin?.policy;
  const words = await findWords(named, flags.tokenizer !== undefined);
  const path = flags.out ?? join(files.folder, "report.html");
  refuseOwnInput(path, [files.folder], "--out");
  claimOutput(path, flags.overwrite === true || flags.out === undefined);
  const decode = words === null ? null : (ids: readonly number[]) => words.tokenizer.decode(ids);
  const document = await synthesisDocument(files, decode);
  await writeAtomic(path, async (write) => {
    for await (const piece of documentPage(document, madeBy())) {
      context.signal.throwIfAborted();
      await write(piece);
    }
  });
  context.out(flags.json === true ? JSON.stringify({ out: path }) : path);
}
