import { join } from "node:path";
import { Argument, type Command } from "commander";
import {
  generateSchema,
  generateTinyWorld,
  tinyWorldFiles,
  type TinyWorldManifest,
} from "../../../data/tinyworld/generate.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "../../../data/tinyworld/names.ts";
import { formatBytes, formatCount } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { CliContext } from "../../command.ts";
import { jsonOption, overwriteOption, seedOption, wholeNumber } from "../../options.ts";
import { refuseToOverwrite } from "../../overwrite.ts";
import { startProgress } from "../../progress.ts";

/** Shown in help; the generator's schema fills them in. */
const DEFAULTS = generateSchema.parse({});

interface GenerateOptions {
  out: string;
  people?: number;
  seed?: number;
  questions?: number;
  splits?: string;
  distractors?: number;
  overwrite?: true;
  json?: true;
}

/** `agentrl data generate tinyworld` */
export function addDataGenerate(data: Command, context: CliContext): void {
  data
    .command("generate")
    .description("Write a tiny world: a fictional encyclopedia and questions about it.")
    .addArgument(new Argument("<dataset>", "what to make").choices(["tinyworld"]))
    .requiredOption("--out <folder>", "where corpus.jsonl and one question file per split go")
    .option(
      "--people <n>",
      `people per split, with 1.7 passages each (default: ${DEFAULTS.people})`,
      wholeNumber(1),
    )
    .addOption(seedOption(`seed; the same seed gives the same bytes (default: ${DEFAULTS.seed})`))
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
    .addOption(overwriteOption("replace existing files of these names"))
    .addOption(jsonOption())
    .action(async (_dataset: string, flags: GenerateOptions) => {
      const { out, splits, overwrite, json, ...rest } = flags;
      // Checked by the generator's schema, which names the allowed splits.
      const names = splits?.split(",").map((name) => name.trim()) as TinyWorldSplit[] | undefined;
      const settings = { ...rest, ...(names === undefined ? {} : { splits: names }) };
      for (const file of tinyWorldFiles(names ?? DEFAULTS.splits))
        refuseToOverwrite(join(out, file), overwrite);
      const manifest = await generate(out, settings, context);
      if (json === true) context.out(JSON.stringify({ out, ...manifest }));
      else context.out(filesText(out, manifest));
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

function filesText(out: string, { files }: TinyWorldManifest): string {
  return renderText({
    columns: ["", { label: "", align: "right" }, { label: "", format: formatBytes }],
    rows: Object.entries(files).map(([name, { records, bytes }]) => [
      join(out, name),
      `${formatCount(records)} ${name === "corpus.jsonl" ? "passages" : "questions"}`,
      bytes,
    ]),
  });
}
