import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { AgentrlError, errorMessage } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { packageVersion } from "../../base/package-root.ts";
import type { TextFormat } from "../../view/report-formats.ts";
import { claimOutput, refuseOwnInput } from "../claim-output.ts";
import type { CliContext } from "../command.ts";
import { madeBy } from "../made-by.ts";
import type { Decode } from "../../trajectory/trajectory.ts";
import type { ResultFiles } from "../../view/results-files.ts";
import type { GoldOf } from "../../view/run-figures.ts";
import type { ReadableResult } from "../../view/viewer/evaluation-items.ts";
import { refuseStray } from "../options.ts";
import { settingsOf } from "../recipe-options.ts";
import { usage } from "../usage.ts";

export interface ResultReportFlags extends ReadingFlags {
  format?: TextFormat | "lm-eval";
  out?: string;
  overwrite?: true;
  json?: true;
  across?: string[];
}

export const RESULT_FORMATS = ["json", "jsonl", "csv", "md", "html", "lm-eval"] as const;

/** Results of folders as one of the formats, on stdout or in a file. */
export async function writeReport(
  places: string[],
  flags: ResultReportFlags,
  context: CliContext,
): Promise<void> {
  const { out, json, across } = flags;
  const format = flags.format ?? formatOf(out) ?? (json === true ? "json" : "md");
  if (json === true && out === undefined && format !== "json")
    throw usage(
      `--json and --format ${format} exclude each other on stdout. Name a file with --out, or leave one out.`,
    );
  if (format !== "html" && format !== "lm-eval")
    refuseStray(flags, ["tokenizer"], "--format html and lm-eval");
  if (format !== "html") refuseStray(flags, ["dataset"], "--format html");
  if (format !== "html" && format !== "md") refuseStray(flags, ["across"], "--format html and md");
  // The files of lm-eval have the time in their names.
  if (out !== undefined && format !== "lm-eval") {
    refuseOwnInput(out, places, "--out");
    claimOutput(out, flags.overwrite);
  }
  const { openResults } = await import("../../view/results-files.ts");
  const { reportText } = await import("../../view/report-formats.ts");
  const files = await openResults(places);
  const readsTrajectories = format === "html" || format === "lm-eval";
  const readable = readsTrajectories
    ? await readableResults(files, flags, context.note)
    : files.map((own) => ({ files: own, decode: null, goldOf: () => null }));
  if (format === "lm-eval") {
    const { writeLmEval } = await import("../../view/lm-eval.ts");
    if (out === undefined) throw usage("--format lm-eval is a folder: name it by --out FOLDER.");
    const given = { time: new Date(), version: packageVersion() };
    const paths: string[] = [];
    for (const { files: own, decode } of readable) {
      // Results of one policy on one dataset would get the same file names.
      const folder = readable.length === 1 ? out : join(out, own.name);
      paths.push(...(await writeLmEval(folder, own, { ...given, decode })));
    }
    context.out(json === true ? JSON.stringify({ out: paths }) : paths.join("\n"));
    return;
  }
  const pieces = reportText(readable, format, { made: madeBy(), across });
  if (out === undefined) {
    for await (const piece of pieces) {
      context.signal.throwIfAborted();
      context.document(piece);
    }
    return;
  }
  await writeAtomic(out, async (write) => {
    for await (const piece of pieces) {
      context.signal.throwIfAborted();
      await write(piece);
    }
  });
  if (json === true) context.out(JSON.stringify({ out: [out] }));
  context.note(`written to ${out}`);
}

/** @throws {ConfigError} USAGE for another file extension. @example formatOf("runs/a/report.html") // "html" */
function formatOf(out = ""): TextFormat | undefined {
  const ending = extname(out);
  if (ending === "") return undefined;
  const known = RESULT_FORMATS.find((format) => ending === `.${format}`);
  if (known !== undefined && known !== "lm-eval") return known;
  throw usage(
    `--out ${out}: no format has the ending ${ending}. Known: .json, .jsonl, .csv, .md, .html; for another name add --format.`,
  );
}

/** Tokenizer and questions for a report. */
interface ReadingFlags {
  /** Folder with a tokenizer.json. */
  tokenizer?: string;
  /** The questions, if the results do not lead to them. */
  dataset?: string;
}

/**
 * Finds the policy's tokenizer and the questions' gold passages for the trajectories of results. Neither is downloaded. Without them a
 * report shows less, and `note` gets a message.
 */
async function readableResults(
  files: readonly ResultFiles[],
  flags: ReadingFlags,
  note: (text: string) => void,
): Promise<ReadableResult[]> {
  const readable: ReadableResult[] = [];
  for (const own of files) {
    const decode = await findDecode(own, flags.tokenizer);
    readable.push({ files: own, decode, goldOf: await findGold(own, flags.dataset, note) });
  }
  return readable;
}

/** @throws {DataError} FILE_MISSING, FILE_NOT_JSON, TOKENIZER_BAD for a tokenizer that was named. */
async function findDecode(
  { results }: ResultFiles,
  named: string | undefined,
): Promise<Decode | null> {
  const { loadTokenizer } = await import("../../text/tokenizer.ts");
  const { folderOfName } = await import("../../run/bases.ts");
  const { from = "" } = results.policy;
  const folder = named ?? (await folderOfName(from));
  if (named === undefined && !existsSync(join(folder, "tokenizer.json"))) return null;
  const tokenizer = await loadTokenizer(folder);
  return (ids) => tokenizer.decode(ids);
}

/** Gold of the evaluated questions: the dataset must have the fingerprint in the results. */
async function findGold(
  { name, results }: ResultFiles,
  named: string | undefined,
  note: (text: string) => void,
): Promise<GoldOf> {
  const { recipe, protocol } = results;
  const how = "Gold passages are not marked";
  const { shippedRecipes } = await import("../../run/settings/recipe-file.ts");
  // The user's own recipe file is not found by its name, so its questions are unknown here.
  const isOwn = recipe !== undefined && !shippedRecipes().includes(recipe.name);
  if (isOwn && named === undefined) return () => null;
  try {
    const { evaluationDataset } = await import("../../run/run-eval.ts");
    const { openNamedDataset } = await import("../../run/assemble.ts");
    const flags =
      recipe === undefined || isOwn
        ? { recipe: "search-r1" }
        : { recipe: recipe.name, tier: recipe.tier };
    const { settings } = await settingsOf(flags);
    const value = await evaluationDataset(named ?? results.dataset, settings);
    const asked = await settingsOf(flags, [
      { key: "evaluation.dataset", value, origin: "--dataset" },
    ]);
    const dataset = await openNamedDataset(
      asked.settings.evaluation.dataset,
      asked.settings.environment,
    );
    if (dataset.fingerprint === protocol["dataset"]) {
      const gold = new Map<string, readonly string[]>();
      for (const { id, annotations } of await dataset.tasks(results.n)) {
        if (annotations.supportingPassages !== undefined)
          gold.set(id, annotations.supportingPassages);
      }
      return ({ id }) => gold.get(id) ?? null;
    }
    note(
      `${name}: ${how}: ${dataset.name} is not the evaluated dataset. Give that one with --dataset.`,
    );
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    note(`${name}: ${how}: ${errorMessage(error)}`);
  }
  return () => null;
}
