import { join } from "node:path";
import { Argument, type Command } from "commander";
import {
  generateSchema,
  generateTinyWorld,
  tinyWorldFiles,
  type TinyWorldManifest,
} from "../../../data/tinyworld/generate.ts";
import { generateNumberWorld } from "../../../data/numberworld/generate.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "../../../data/tinyworld/names.ts";
import { ConfigError } from "../../../base/errors.ts";
import { formatBytes, formatCount } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import type { CliContext } from "../../command.ts";
import { jsonOption, overwriteOption, seedOption, wholeNumber } from "../../options.ts";
import { claimWriting, claimOutput } from "../../claim-output.ts";
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

/** `agentrl data generate tinyworld|numberworld` */
export function addDataGenerate(data: Command, context: CliContext): void {
  data
    .command("generate")
    .description(
      "Write a tiny world (a fictional encyclopedia and questions about it) or a number world (expressions and word problems).",
    )
    .addArgument(new Argument("<dataset>", "what to make").choices(["tinyworld", "numberworld"]))
    .requiredOption("--out <folder>", "folder of one question file per split, and of corpus.jsonl")
    .option(
      "--people <n>",
      `tinyworld: people per split, with 1.7 passages each (default: ${DEFAULTS.people})`,
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
      `any of ${TINY_WORLD_SPLITS.join(",")}; they share no entity and no problem (default: ${DEFAULTS.splits.join()})`,
    )
    .option(
      "--distractors <n>",
      `tinyworld: passages in each question's context; 0: none (default: ${DEFAULTS.distractors})`,
      wholeNumber(0),
    )
    .addOption(overwriteOption("replace existing files of these names"))
    .addOption(jsonOption())
    .action(async (dataset: "tinyworld" | "numberworld", flags: GenerateOptions) => {
      const { out, splits, overwrite, json, ...rest } = flags;
      // Checked by the generator's schema, which names the allowed splits.
      const names = splits?.split(",").map((name) => name.trim()) as TinyWorldSplit[] | undefined;
      const settings = { ...rest, splits: names };
      const isNumbers = dataset === "numberworld";
      if (isNumbers) refuseWorldFlags(rest);
      claimWriting(out);
      for (const file of tinyWorldFiles(names ?? DEFAULTS.splits)) {
        if (isNumbers && file === "corpus.jsonl") continue;
        claimOutput(join(out, file), overwrite);
      }
      const manifest = await withProgress<Pick<TinyWorldManifest, "files">>(
        isNumbers ? "problems" : "passages",
        context,
        (options) =>
          isNumbers
            ? generateNumberWorld(out, settings, options)
            : generateTinyWorld(out, settings, options),
      );
      if (json === true) context.out(JSON.stringify({ out, ...manifest }));
      else context.out(filesText(out, manifest));
    });
}

/** A number world has neither people to count nor passages. */
function refuseWorldFlags(flags: Pick<GenerateOptions, "people" | "distractors">): void {
  const stray = (["people", "distractors"] as const).find((flag) => flags[flag] !== undefined);
  if (stray === undefined) return;
  throw new ConfigError(
    "USAGE",
    `--${stray} is ${flags[stray] ?? ""}: it has no effect on a number world. Leave it out, or generate a tinyworld.`,
  );
}

async function withProgress<T>(
  unit: string,
  context: CliContext,
  run: (options: { signal: AbortSignal; onProgress: (made: number) => void }) => Promise<T>,
): Promise<T> {
  const progress = startProgress(context, { label: "writing", total: 0, unit });
  try {
    return await run({
      signal: context.signal,
      onProgress: (made) => {
        progress.update(made);
      },
    });
  } finally {
    progress.stop();
  }
}

function filesText(out: string, { files }: Pick<TinyWorldManifest, "files">): string {
  return renderText({
    columns: ["", { label: "", align: "right" }, { label: "", format: formatBytes }],
    rows: Object.entries(files).map(([name, { records, bytes }]) => [
      join(out, name),
      `${formatCount(records)} ${name === "corpus.jsonl" ? "passages" : "questions"}`,
      bytes,
    ]),
  });
}
