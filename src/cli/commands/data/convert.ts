import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { unreadable } from "../../../base/files.ts";
import { isBeirFolder } from "../../../data/beir-folder.ts";
import { convertFile, requireLayout, writableLayouts } from "../../../data/convert.ts";
import type { CliContext } from "../../command.ts";
import {
  addFieldFlags,
  type FieldFlags,
  fieldsOf,
  noteAnswers,
  noteFields,
} from "../../data-flags.ts";
import { jsonOption, partOption, pluginOption, overwriteOption } from "../../options.ts";
import { refuseOwnInput, claimOutput } from "../../claim-output.ts";

interface ConvertFlags extends FieldFlags {
  to: string;
  split?: string;
  prompt?: string;
  overwrite?: true;
  json?: true;
}

/** `agentrl data convert IN OUT --to LAYOUT` */
export function addDataConvert(data: Command, context: CliContext): void {
  const command = data
    .command("convert")
    .summary("rewrite questions or a corpus in another layout")
    .description(
      "Rewrite a question file, a corpus or a dataset folder in another layout, as Parquet or JSON lines.",
    )
    .argument(
      "<in>",
      "questions or passages: a file (JSON, JSON lines, CSV, TSV, Parquet; .gz or not) or a folder",
    )
    .argument("<out>", "file to write: .parquet, or JSON lines: .jsonl, .jsonl.gz")
    .addOption(
      partOption(
        "--to <layout>",
        "layout to write, or one of a plug-in",
        writableLayouts(),
      ).makeOptionMandatory(),
    )
    .option(
      "--split <name>",
      "split to read of a BEIR folder, and to write into rows that have a split field (default: train; BEIR: test)",
    )
    .option(
      "--prompt <file>",
      "file with the prompt of trainer rows: text with {question} in it (default: the question alone)",
    );
  addFieldFlags(command)
    .addOption(overwriteOption())
    .addOption(pluginOption())
    .addOption(jsonOption())
    .addHelpText("after", TRAINERS)
    .action(async (from: string, out: string, flags: ConvertFlags) => {
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
      for (const [name, count] of Object.entries(lost)) {
        context.note(`${to} has no place for "${name}": ${count} of ${records} questions lose it.`);
      }
      if (json === true) {
        context.out(JSON.stringify({ in: from, out, to, kind, records, bytes, lost }));
      } else
        context.out(`${out}: ${records} ${kind === "corpus" ? "passages" : "questions"}, ${to}`);
    });
}

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
