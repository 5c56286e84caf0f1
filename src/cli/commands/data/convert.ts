import { readFileSync } from "node:fs";
import { unreadable } from "../../../base/files.ts";
import { isBeirFolder } from "../../../data/beir-folder.ts";
import { convertFile, requireLayout, writableLayouts } from "../../../data/convert.ts";
import { claimOutput, refuseOwnInput } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { FIELD_OPTIONS, fieldsOf, noteAnswers, noteFields } from "../../data-flags.ts";
import { anyOf, jsonFlag, overwriteFlag, pluginFlag } from "../../options.ts";

/** `agentrl data convert IN OUT --to LAYOUT` */
export const dataConvert = defineCommand({
  name: "convert",
  summary: "rewrite questions or a corpus in another layout",
  description:
    "Rewrite a question file, a corpus or a dataset folder in another layout, as Parquet or JSON lines.",
  args: [
    [
      "<in>",
      "questions or passages: a file (JSON, JSON lines, CSV, TSV, Parquet; .gz or not) or a folder",
    ],
    ["<out>", "file to write: .parquet, or JSON lines: .jsonl, .jsonl.gz"],
  ],
  options: {
    to: ["<layout>", "layout to write, or one of a plug-in", anyOf(writableLayouts())],
    split: [
      "<name>",
      "split to read of a BEIR folder, and to write into rows that have a split field (default: train; BEIR: test)",
    ],
    prompt: [
      "<file>",
      "file with the prompt of trainer rows: text with {question} in it (default: the question alone)",
    ],
    ...FIELD_OPTIONS,
    overwrite: overwriteFlag(),
    plugin: pluginFlag(),
    json: jsonFlag(),
  },
  required: ["to"],
  more: (command) => command.addHelpText("after", TRAINERS),
  async run(flags, context, from, out) {
    const { to, split, prompt, overwrite, json } = flags;
    requireLayout(to);
    refuseOwnInput(out, [from], "OUT");
    claimOutput(out, overwrite);
    const fields = fieldsOf(flags);
    if (!isBeirFolder(from)) await noteFields(from, fields, context);
    await noteAnswers([{ name: "files", tasks: from, fields }], context);
    const { kind, records, bytes, lost } = await convertFile(from, out, to, {
      split,
      prompt: prompt === undefined ? undefined : textOf(prompt),
      fields,
      signal: context.signal,
    });
    for (const [name, count] of Object.entries(lost))
      context.note(`${to} has no place for "${name}": ${count} of ${records} questions lose it.`);
    if (json === true) {
      context.out(JSON.stringify({ in: from, out, to, kind, records, bytes, lost }));
    } else context.out(`${out}: ${records} ${kind === "corpus" ? "passages" : "questions"}, ${to}`);
  },
});

const TRAINERS = `
Rows for trainers:
  verl  data.train_files=rows.parquet
  trl   load_dataset("parquet", data_files="rows.parquet"); rewards receive the
        columns question, references, id and source by name`;

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch (error) {
    throw unreadable(path, error);
  }
}
