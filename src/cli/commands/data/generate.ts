import { join } from "node:path";
import { formatBytes, formatCount } from "../../../base/format.ts";
import { loadPlugin } from "../../../base/plugins.ts";
import { suggest } from "../../../base/nearest.ts";
import { renderText } from "../../../base/table.ts";
import type { WorldFolder, WorldManifest } from "../../../env/world-folder.ts";
import { claimOutput, claimWriting } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import {
  type Flags,
  jsonFlag,
  options,
  overwriteFlag,
  pluginFlag,
  seedFlag,
  setFlag,
  wholeNumber,
} from "../../options.ts";
import { usage } from "../../usage.ts";

const OPTIONS = options({
  out: ["<folder>", "folder of the files"],
  people: ["<n>", "people per split, in a world of people (default: the world's)", wholeNumber(1)],
  seed: seedFlag("seed; the same seed gives the same bytes (default: the world's)"),
  questions: ["<n>", "questions per split (default: the world's)", wholeNumber(1)],
  splits: ["<names>", "comma-separated splits, which share no question (default: train,dev,test)"],
  distractors: [
    "<n>",
    "passages in each question's context, where the world has passages; 0: none (default: the world's)",
    wholeNumber(0),
  ],
  set: setFlag("another setting of the world, e.g. filler=2; repeatable"),
  plugin: pluginFlag(),
  overwrite: overwriteFlag("replace existing files of these names"),
  json: jsonFlag(),
});

type GenerateFlags = Flags<typeof OPTIONS>;

/** `agentrl data generate WORLD` */
export const dataGenerate = defineCommand({
  name: "generate",
  summary: "write a generated world: questions and passages",
  description:
    "Write a generated world: one question file per split, and corpus.jsonl where the world has passages. " +
    "`agentrl data list` shows the worlds; --plugin brings others.",
  args: [["<world>", "name of the world, such as tinyworld"]],
  options: OPTIONS,
  required: ["out"],
  async run(flags, context, name) {
    const { out, overwrite, json } = flags;
    const world = await namedWorld(name, flags.plugin);
    const settings = { ...flagSettings(name, world, flags), ...(await setSettings(flags)) };
    claimWriting(out);
    for (const file of world.files(settings)) claimOutput(join(out, file), overwrite);
    const bar = { label: "writing", total: 0, unit: "records" };
    const { signal } = context;
    const manifest = await withProgress(context, bar, (onProgress) =>
      world.generate(out, settings, { signal, onProgress }),
    );
    context.out(json === true ? JSON.stringify({ out, ...manifest }) : filesText(out, manifest));
  },
});

/** @throws {ConfigError} USAGE, PLUGIN_NOT_FOUND, PLUGIN_FAILED, PLUGIN_BAD_PART */
async function namedWorld(name: string, plugins: readonly string[] = []): Promise<WorldFolder> {
  for (const plugin of plugins) await loadPlugin(plugin, process.cwd(), "--plugin");
  const { worlds } = await import("../../../worlds/index.ts");
  const written = worlds.parts.filter(({ folder }) => folder !== undefined);
  const folder = written.find((world) => world.name === name)?.folder;
  if (folder !== undefined) return folder;
  const known = written.map((world) => world.name);
  throw usage(`<world> is "${name}"; no such world with questions. ${suggest(name, known)}`);
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
  throw usage(
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
