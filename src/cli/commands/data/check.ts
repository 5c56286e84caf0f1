import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../../../base/errors.ts";
import { sha256File } from "../../../base/files.ts";
import { loadPlugin } from "../../../base/plugins.ts";
import { beirFiles } from "../../../data/beir-folder.ts";
import { absentDataset, placeOf } from "../../../data/cards/card-dataset.ts";
import { cardNames } from "../../../data/cards/card-names.ts";
import { readCard } from "../../../data/cards/card.ts";
import { originOf, originPath } from "../../../data/cards/dataset-place.ts";
import { checkFile } from "../../../data/check-file.ts";
import { isDataFolder } from "../../../data/data-folder.ts";
import { type Fields, fieldsText } from "../../../data/fields.ts";
import { worldOfFolder } from "../../../env/world-folder.ts";
import { defineCommand } from "../../command.ts";
import { problemLines, sampleText } from "../../data-check-text.ts";
import { FIELD_OPTIONS, fieldsOf } from "../../data-flags.ts";
import { jsonFlag, pluginFlag } from "../../options.ts";

/** `agentrl data check PATH|NAME[:SPLIT]` */
export const dataCheck = defineCommand({
  name: "check",
  summary: "list every fault of a question file, a corpus or a folder",
  description:
    "Show the first records of a question file or corpus as they are understood, and list every fault; also of a folder or a downloaded dataset.",
  args: [
    [
      "<path>",
      "file (JSON, JSON lines, CSV, TSV, Parquet; .gz or not); folder (of texts, of a hub dataset, BEIR, a generated world); or name[:split] of a downloaded dataset",
    ],
  ],
  options: { ...FIELD_OPTIONS, plugin: pluginFlag(), json: jsonFlag() },
  async run({ json, plugin = [], ...flags }, context, path) {
    for (const each of plugin) await loadPlugin(each, process.cwd(), "--plugin");
    const {
      summary,
      sample = "",
      problems,
      notices = [],
    } = await check(path, { fields: fieldsOf(flags), signal: context.signal });
    if (json === true) context.out(JSON.stringify({ path, ...summary, problems, notices }));
    else {
      const counts = Object.entries(summary).map(([key, value]) => `${key} ${value ?? "none"}`);
      const table = sample === "" ? [] : [sample, ""];
      context.out(
        [...table, ...problemLines(problems), `${path}: ${counts.join(", ")}`].join("\n"),
      );
    }
    for (const notice of notices) context.note(`${path}: ${notice}`);
    if (problems.length === 0) return;
    const found = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    throw new DataError("DATA_CHECK_FAILED", `${path}: ${found}; see the list.`);
  },
});

interface CheckOptions {
  fields: Fields;
  signal: AbortSignal;
}

interface Checked {
  /** The first records as a table; absent for folders of several files. */
  sample?: string;
  summary: Record<string, string | number | null>;
  problems: string[];
  notices?: string[];
}

/** The folder of a generated world. @throws {DataError} DATA_BAD_RECORD for a world that is not loaded. */
async function checkWorld(folder: string): Promise<Checked> {
  const { worlds } = await import("../../../worlds/index.ts");
  const name = await worldOfFolder(folder);
  const world = worlds.parts.find((each) => each.name === name)?.folder;
  if (world === undefined) throw unknownWorld(folder, name, worlds.names);
  const { counts, changedFiles, problems } = await world.check(folder);
  return {
    summary: { kind: name, ...counts },
    problems: [
      ...changedFiles.map(
        (file) => `${join(folder, file)}: is not the file that manifest.json describes (sha256).`,
      ),
      ...problems.map(({ where, code, message }) => `${where}: ${message} [${code}]`),
    ],
  };
}

function unknownWorld(folder: string, name: string | null, known: readonly string[]): DataError {
  const found = name === null ? "names no world" : `names the world "${name}", which is not loaded`;
  return new DataError(
    "DATA_BAD_RECORD",
    `${join(folder, "manifest.json")}: "format" ${found}. Known: ${known.join(", ")}. Load the file of another world by --plugin.`,
  );
}

async function check(path: string, options: CheckOptions): Promise<Checked> {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) return checkOne(path, options);
    const beir = beirFiles(path);
    if (beir !== null) return checkBeir(beir, options);
    if (existsSync(join(path, "manifest.json"))) return checkWorld(path);
    return checkOne(path, options);
  }
  if (isDataFolder(path)) return checkOne(path, options);
  const [name = path, split] = path.split(":");
  const names = [...cardNames("questions"), ...cardNames("corpus")];
  if (!names.includes(name)) return checkOne(path, options);
  const card = readCard(name);
  const place = placeOf(card, { split });
  if (!existsSync(place.path)) throw absentDataset(card, { split });
  const { problems, ...found } = await checkOne(place.path, options);
  const origin = originOf(place.path);
  const changed = origin !== null && (await sha256File(place.path)) !== origin.sha256;
  if (changed) {
    const message = `${place.path}: is not the file that was downloaded (sha256 in ${originPath(place.path)}).`;
    problems.unshift(message);
  }
  return { ...found, problems };
}

async function checkOne(path: string, options: CheckOptions): Promise<Checked> {
  const { kind, layout, fields, records, sample, problems, notices } = await checkFile(
    path,
    options,
  );
  const understood: Checked["summary"] = fields === null ? {} : { fields: fieldsText(fields) };
  return {
    summary: { kind, layout, ...understood, records },
    sample: sampleText(sample),
    problems,
    notices,
  };
}

/** Queries need no answers: most of BEIR has only relevance judgements. */
async function checkBeir(
  { queries, corpus }: { queries: string; corpus: string | null },
  options: CheckOptions,
): Promise<Checked> {
  const asked = await checkFile(queries, options);
  const found = corpus === null ? null : await checkFile(corpus, options);
  return {
    summary: { kind: "beir", queries: asked.records, passages: found?.records ?? null },
    problems: [...asked.problems, ...(found?.problems ?? [])],
  };
}
