import { DataError } from "../../../base/errors.ts";
import { renderText } from "../../../base/table.ts";
import { indexKind } from "../../../retrieval/store/index-folder.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { jsonFlag } from "../../options.ts";
import { checkDense } from "../index-dense.ts";
import { INDEX } from "./index-flags.ts";

/** One property of an index, whatever its kind. */
interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}

/** Adds `check`. */
export const indexCheck = defineCommand({
  name: "check",
  summary: "check an index: files, self-retrieval, exact scores",
  description:
    "Check an index: every byte of its files; that titles (or texts, of a dense index) find their passages; that scores are the formula's, or that a graph finds what exact search finds.",
  args: [["<index>", INDEX]],
  options: { json: jsonFlag() },
  async run({ json }, context, folder) {
    const findings = await findingsOf(folder, context);
    const failed = findings.filter(({ ok }) => !ok);
    if (json === true) context.out(JSON.stringify({ ok: failed.length === 0, findings }));
    else {
      const rows = findings.map(({ check, ok, detail }) => [ok ? "ok" : "FAILED", check, detail]);
      context.out(renderText({ rows }));
    }
    if (failed.length === 0) return;
    // The list above has the details.
    const names = failed.map(({ check }) => check).join(", ");
    throw new DataError(
      "INDEX_CHECK_FAILED",
      `${folder}: failed: ${names}. Build the index again.`,
    );
  },
});

async function findingsOf(folder: string, context: CliContext): Promise<Finding[]> {
  if ((await indexKind(folder)) === "dense") return checkDense(folder, context);
  const { checkIndex } = await import("../../../retrieval/bm25/check-index.ts");
  return checkIndex(folder, { signal: context.signal });
}
