import { join } from "node:path";
import { writeAtomic } from "../../../base/files.ts";
import type { CliContext } from "../../command.ts";
import { madeBy } from "../../made-by.ts";
import { refuseOwnInput, claimOutput } from "../../claim-output.ts";
import { findOrigin } from "../../trace/trace-origin.ts";
import { findWords } from "../../trace/trace-texts.ts";

export interface SynthesisReportFlags {
  out?: string;
  overwrite?: true;
  json?: true;
  tokenizer?: string;
}

/** A synthesis as a page. */
export async function reportSynthesis(
  folder: string,
  flags: SynthesisReportFlags,
  context: CliContext,
): Promise<void> {
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
