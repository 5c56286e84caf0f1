import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { Argument, type Command, Option } from "commander";
import { DataError } from "../../base/errors.ts";
import { checkFile } from "../../data/check-file.ts";
import { convertFile, WRITABLE_LAYOUTS } from "../../data/convert.ts";
import { datasets } from "../../data/datasets.ts";
import { corpusLayouts, taskLayouts } from "../../data/layouts/index.ts";
import { checkTinyWorldFolder } from "../../data/tinyworld/check-folder.ts";
import {
  generateSchema,
  generateTinyWorld,
  type TinyWorldManifest,
} from "../../data/tinyworld/generate.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "../../data/tinyworld/names.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption, seedOption, wholeNumber } from "../options.ts";
import { startProgress } from "../progress.ts";
import { table } from "../table.ts";

/** `agentrl data generate|check|convert|list`: question files and corpora. */
export const dataCommand: CliCommand = {
  name: "data",
  register(program, context) {
    const data = program
      .command("data")
      .summary("make, check and convert datasets")
      .description("Question files and corpora: the tiny world, and everybody's layouts.");
    registerGenerate(data, context);
    registerCheck(data, context);
    registerConvert(data, context);
    registerList(data, context);
  },
};

/** Shown in help; the generator's schema fills them in. */
const DEFAULTS = generateSchema.parse({});

interface GenerateOptions {
  out: string;
  people?: number;
  seed?: number;
  questions?: number;
  splits?: string;
  distractors?: number;
  json?: true;
}

function registerGenerate(data: Command, context: CliContext): void {
  data
    .command("generate")
    .description("Write a tiny world: a fictional encyclopedia and questions about it.")
    .addArgument(new Argument("<dataset>", "what to make").choices(["tinyworld"]))
    .requiredOption("--out <folder>", "where corpus.jsonl and one question file per split go")
    .option(
      "--people <n>",
      `persons per split; 1.7 passages each (default: ${DEFAULTS.people})`,
      wholeNumber(1),
    )
    .addOption(seedOption(`same seed, same bytes (default: ${DEFAULTS.seed})`))
    .option(
      "--questions <n>",
      `questions per split (default: ${DEFAULTS.questions})`,
      wholeNumber(1),
    )
    .option(
      "--splits <names>",
      `any of ${TINY_WORLD_SPLITS.join(",")}; they share no entity (default: ${DEFAULTS.splits.join()})`,
    )
    .option(
      "--distractors <n>",
      `passages in each question's context; 0: none (default: ${DEFAULTS.distractors})`,
      wholeNumber(0),
    )
    .addOption(jsonOption())
    .action(async (_dataset: string, { out, splits, json, ...rest }: GenerateOptions) => {
      // Checked by the generator's schema, which names the allowed splits.
      const names = splits?.split(",").map((name) => name.trim()) as TinyWorldSplit[] | undefined;
      const settings = { ...rest, ...(names === undefined ? {} : { splits: names }) };
      const manifest = await generate(out, settings, context);
      if (json === true) context.out(JSON.stringify({ out, ...manifest }));
      else context.out(table(filesTable(out, manifest), { align: ["left", "right", "right"] }));
    });
}

async function generate(
  out: string,
  settings: Parameters<typeof generateTinyWorld>[1],
  context: CliContext,
): Promise<TinyWorldManifest> {
  const progress = startProgress(context, { label: "writing", total: 0, unit: "passages" });
  try {
    return await generateTinyWorld(out, settings, {
      signal: context.signal,
      onProgress: (passages) => {
        progress.update(passages);
      },
    });
  } finally {
    progress.stop();
  }
}

function filesTable(out: string, { files }: TinyWorldManifest): string[][] {
  return Object.entries(files).map(([name, { records, bytes }]) => [
    join(out, name),
    `${records} ${name === "corpus.jsonl" ? "passages" : "questions"}`,
    bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(0)} MB`,
  ]);
}

function registerCheck(data: Command, context: CliContext): void {
  data
    .command("check")
    .description("Check a question file, a corpus, or a tiny world's folder, and list every fault.")
    .argument("<path>", "file in any known layout, or folder made by `data generate tinyworld`")
    .addOption(jsonOption())
    .action(async (path: string, { json }: { json?: true }) => {
      const isFolder = existsSync(path) && statSync(path).isDirectory();
      const { summary, problems } = isFolder
        ? await checkWorld(path)
        : await checkOne(path, context.signal);
      if (json === true) context.out(JSON.stringify({ path, ...summary, problems }));
      else {
        const counts = Object.entries(summary).map(([key, value]) => `${key} ${value ?? "none"}`);
        context.out([...problems, `${path}: ${counts.join(", ")}`].join("\n"));
      }
      if (problems.length === 0) return;
      const found = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
      throw new DataError("DATA_CHECK_FAILED", `${path}: ${found}; see the list.`);
    });
}

interface Checked {
  summary: Record<string, string | number | null>;
  problems: string[];
}

async function checkWorld(folder: string): Promise<Checked> {
  const report = await checkTinyWorldFolder(folder);
  const { passages, questions } = report;
  return {
    summary: { kind: "tinyworld", passages, questions },
    problems: [
      ...report.changedFiles.map(
        (name) => `${join(folder, name)}: is not the file that manifest.json describes (sha256).`,
      ),
      ...report.problems.map(({ where, code, message }) => `${where}: ${message} [${code}]`),
    ],
  };
}

async function checkOne(path: string, signal: AbortSignal): Promise<Checked> {
  const { kind, layout, records, problems } = await checkFile(path, signal);
  return { summary: { kind, layout, records }, problems };
}

function registerConvert(data: Command, context: CliContext): void {
  data
    .command("convert")
    .description("Rewrite a question file or corpus in another layout, as JSON lines.")
    .argument("<in>", "file in any known layout, .gz or not")
    .argument("<out>", "file to write")
    .addOption(
      new Option("--to <layout>", "layout to write")
        .choices(WRITABLE_LAYOUTS)
        .makeOptionMandatory(),
    )
    .addOption(jsonOption())
    .action(async (from: string, out: string, { to, json }: { to: string; json?: true }) => {
      const { kind, records, bytes } = await convertFile(from, out, to, {
        signal: context.signal,
      });
      if (json === true) context.out(JSON.stringify({ in: from, out, to, kind, records, bytes }));
      else context.out(`${out}: ${records} ${kind === "corpus" ? "passages" : "questions"}, ${to}`);
    });
}

function registerList(data: Command, context: CliContext): void {
  data
    .command("list")
    .description("List the datasets that a recipe or --dataset can name, and the readable layouts.")
    .addOption(jsonOption())
    .action(({ json }: { json?: true }) => {
      const about = ({ name, summary }: { name: string; summary: string }) => ({ name, summary });
      const lists = {
        datasets: datasets.parts.map(about),
        questionLayouts: taskLayouts.parts.map(about),
        corpusLayouts: corpusLayouts.parts.map(about),
      };
      if (json === true) {
        context.out(JSON.stringify(lists));
        return;
      }
      const rows = (parts: { name: string; summary: string }[]): string =>
        table(
          parts.map(({ name, summary }) => [name, summary]),
          { indent: 2 },
        );
      context.out(
        `Datasets\n${rows(lists.datasets)}\n\nQuestion files\n${rows(lists.questionLayouts)}\n\nCorpora\n${rows(lists.corpusLayouts)}`,
      );
    });
}
