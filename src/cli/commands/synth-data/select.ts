import { parseSet } from "../../../run/settings/settings.ts";
import { synthesisBlocks } from "../../../view/documents/synthesis.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import { jsonFlag, setFlag } from "../../options.ts";

/** `agentrl synth-data select`: runs other steps over existing draws. */
export const synthSelect = defineCommand({
  name: "select",
  summary: "select again from a folder's draws; nothing is drawn",
  description:
    "Run the steps over the draws of a run's folder again and write samples, pairs and yield table anew. --set changes " +
    "synth.steps, synth.selection or synth.validation, in the folder's recipe.resolved.yaml too; nothing is drawn.",
  args: [["<folder>", "of `agentrl synth-data --out`"]],
  options: {
    set: setFlag(),
    dropped: ["", "also write dropped samples to dropped.jsonl, with step and reason"],
    json: jsonFlag(),
  },
  async run(flags, context, folder) {
    const overrides = (flags.set ?? []).map(parseSet);
    // Steps and protocols are slow to load: not for --help.
    const { selectAgain } = await import("../../../run/synth/synth-folder.ts");
    const { requireRows } = await import("../../../run/synth/run-synth.ts");
    const bar = { label: "selecting", total: 0, unit: "questions" };
    const given = { overrides, signal: context.signal, keepDropped: flags.dropped === true };
    const result = await withProgress(context, bar, (onSelect, download) =>
      selectAgain(folder, { ...given, download, onSelect }),
    );
    if (flags.json === true) context.out(JSON.stringify({ ...result, out: folder }));
    else context.out(synthesisBlocks(result, folder));
    requireRows(folder, result);
  },
});
