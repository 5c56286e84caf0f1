import { join } from "node:path";
import type { Command } from "commander";
import { ConfigError } from "../../../base/errors.ts";
import { formatBytes, formatCount } from "../../../base/format.ts";
import { loadPlugin } from "../../../base/plugins.ts";
import { suggest } from "../../../base/nearest.ts";
import { renderText } from "../../../base/table.ts";
import type { WorldFolder, WorldManifest } from "../../../env/world-folder.ts";
import { claimOutput, claimWriting } from "../../claim-output.ts";
import type { CliContext } from "../../command.ts";
import {
  jsonOption,
  overwriteOption,
  pluginOption,
  seedOption,
  setOption,
  wholeNumber,
} from "../../options.ts";
import { startProgress } from "../../progress.ts";

interface GenerateFlags {
  out: string;
  people?: number;
  seed?: number;
  questions?: number;
  splits?: string;
  distractors?: number;
  set?: string[];
  plugin?: string[];
  overwrite?: true;
  json?: true;
}

/** `agentrl data generate WORLD` */
export function addDataGenerate(data: Command, context: CliContext): void {
  data
    .command("generate")
    .summary("write a generated world: questions and passages")
    .description(
      "Write a generated world: one question file per split, and corpus.jsonl where the world has passages. " +
        "`agentrl data list` shows the worlds; --plugin brings others.",
    )
    .argument("<world>", "name of the world, such as tinyworld")
    .requiredOption("--out <folder>", "folder of the files")
    .option(
      "--people <n>",
      "people per split, in a world of people (default: the world's)",
      wholeNumber(1),
    )
    .addOption(seedOption("seed; the same seed gives the same bytes (default: the world's)"))
    .option("--questions <n>", "questions per split (default: the world's)", wholeNumber(1))
    .option(
      "--splits <names>",
      "comma-separated splits, which share no question (default: train,dev,test)",
    )
    .option(
      "--distractors <n>",
      "passages in each question's context, where the world has passages; 0: none (default: the world's)",
      wholeNumber(0),
    )
    .addOption(setOption("another setting of the world, e.g. filler=2; repeatable"))
    .addOption(pluginOption())
    .addOption(overwriteOption("replace existing files of these names"))
    .addOption(jsonOption())
    .action(async (name: string, flags: GenerateFlags) => {
      const { out, overwrite, json } = flags;
      const world = await namedWorld(name, flags.plugin);
      const settings = { ...flagSettings(name, world, flags), ...(await setSettings(flags)) };
      claimWriting(out);
      for (const file of world.files(settings)) claimOutput(join(out, file), overwrite);
      const progress = startProgress(context, { label: "writing", total: 0, unit: "records" });
      const { signal } = context;
      const onProgress = (made: number): void => {
        progress.update(made);
      };
      const manifest = await world.generate(out, settings, { signal, onProgress }).finally(() => {
        progress.stop();
      });
      context.out(json === true ? JSON.stringify({ out, ...manifest }) : filesText(out, manifest));
    });
}

/** @throws {ConfigError} USAGE, PLUGIN_NOT_FOUND, PLUGIN_FAILED, PLUGIN_BAD_PART */
async function namedWorld(name: string, plugins: readonly string[] = []): Promise<WorldFolder> {
  for (const plugin of plugins) await loadPlugin(plugin, process.cwd(), "--plugin");
  const { worlds } = await import("../../../worlds/index.ts");
  const written = worlds.parts.filter(({ folder }) => folder !== undefined);
  const folder = written.find((world) => world.name === name)?.folder;
  if (folder !== undefined) return folder;
  const known = written.map((world) => world.name);
  throw new ConfigError(
    "USAGE",
    `<world> is "${name}"; no such world with questions. ${suggest(name, known)}`,
  );
}

/** Flags as settings of the world. @throws {ConfigError} USAGE for a flag whose setting the world lacks. */
function flagSettings(
  name: string,
  { options }: WorldFolder,
  { people, seed, questions, splits, distractors }: GenerateFlags,
): Record<string, unknown> {
  const given = Object.entries({
    people,
    seed,
    questions,
    splits: splits?.split(",").map((each) => each.trim()),
    distractors,
  }).filter(([, value]) => value !== undefined);
  const [stray] = given.find(([key]) => !(key in options.shape)) ?? [];
  if (stray === undefined) return Object.fromEntries(given);
  throw new ConfigError(
    "USAGE",
    `--${stray} has no effect on the world ${name}. Leave it out. Its settings: ${Object.keys(options.shape).join(", ")}.`,
  );
}

async function setSettings({ set = [] }: GenerateFlags): Promise<Record<string, unknown>> {
  const { parseSet } = await import("../../../run/settings/settings.ts");
  return Object.fromEntries(set.map(parseSet).map(({ key, value }) => [key, value]));
}

function filesText(out: string, { files }: WorldManifest): string {
  return renderText({
    columns: ["", { label: "", align: "right" }, { label: "", format: formatBytes }],
    rows: Object.entries(files).map(([name, { records, bytes }]) => [
      join(out, name),
      `${formatCount(records)} ${name === "corpus.jsonl" ? "passages" : "questions"}`,
      bytes,
    ]),
  });
}
