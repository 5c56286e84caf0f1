import { ExternalError } from "../../../base/errors.ts";
import type { DrawnAgain } from "../../../run/synth/draw-again.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import { jsonFlag, repeated, wholeNumber } from "../../options.ts";
import { usage } from "../../usage.ts";

/** `agentrl synth-data again`: checks whether rows can be reproduced. */
export const synthAgain = defineCommand({
  name: "again",
  summary: "draw rows again from their provenance, and compare",
  description:
    "Draw rows of a run's samples or pairs again, by the settings of the folder that they lie in, and say whether they come out " +
    "the same to the byte, or where they differ: then it ends with 4.",
  args: [["<file>", "samples.jsonl, validation.jsonl or pairs.jsonl of a run's folder"]],
  options: {
    id: ["<id>", "id of a row to draw again; repeatable", repeated],
    all: ["[n]", "draw all rows again, or the first n", wholeNumber(1)],
    json: jsonFlag(),
  },
  async run(flags, context, file) {
    const { id: ids, all } = flags;
    if ((ids === undefined) === (all === undefined))
      throw usage(
        "Which rows are meant? Name them by --id ID, or all by --all, or the first by --all N.",
      );
    // The runtime is slow to load: not for --help.
    const { drawAgain } = await import("../../../run/synth/draw-again.ts");
    const total = ids?.length ?? (typeof all === "number" ? all : 0);
    const bar = { label: "drawing again", total, unit: "rows" };
    const limit = typeof all === "number" ? all : undefined;
    const { signal } = context;
    const result = await withProgress(context, bar, (onProgress, download) =>
      drawAgain(file, { ids, limit, signal, download, onProgress }),
    );
    context.out(flags.json === true ? JSON.stringify(result) : againText(result));
    requireSame(result);
  },
});

function againText({ rows, same, unlike }: DrawnAgain): string {
  const lines = unlike.slice(0, 20).map(({ id, at, was, now }) => {
    return at === null ? `${id}: was ${was}, now ${now}` : `${id}: ${at} was ${was}, is ${now}`;
  });
  const more = unlike.length > lines.length ? [`… and ${unlike.length - lines.length} more`] : [];
  return [...lines, ...more, `${same} of ${rows} rows came out the same to the byte`].join("\n");
}

/** @throws {ExternalError} SYNTHESIS_UNLIKE */
function requireSame({ file, teacher, rows, unlike }: DrawnAgain): void {
  if (unlike.length === 0) return;
  const why =
    teacher === "endpoint"
      ? " Servers need not repeat themselves, whatever seed they are given."
      : "";
  throw new ExternalError(
    "SYNTHESIS_UNLIKE",
    `${file}: ${unlike.length} of ${rows} rows differ from the file.${why}`,
  );
}
