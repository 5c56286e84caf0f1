import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DataError } from "../base/errors.ts";
import { type EvaluationFolders, evaluationsIn } from "../evaluate/evaluation-folders.ts";
import type { MeasuredSet } from "../experiment/paper-table/measured-set.ts";
import type { CliContext } from "./command.ts";
import { usage } from "./usage.ts";

/** `isNamed`: the user named its folder or its column, not a folder that holds several. */
export type PlacedSet = MeasuredSet & { isNamed: boolean };

/**
 * The evaluations in folders of `agentrl eval --out`, each once; COLUMN=FOLDER names the column of a table. Unfinished ones are left out with a note.
 * @throws {DataError} FILE_MISSING for a place without a finished evaluation.
 */
export async function readMeasuredSets(
  places: readonly string[],
  { note }: Pick<CliContext, "note">,
): Promise<PlacedSet[]> {
  const found: { folder: string; column: string | null; isNamed: boolean }[] = [];
  for (const place of places) {
    const { column, path } = placeOf(place);
    const { finished, unfinished } = findEvaluations(path);
    for (const folder of unfinished)
      note(`${folder}: is not finished and left out; \`agentrl resume ${folder}\` continues it.`);
    if (column !== null && finished.length > 1)
      throw usage(
        `${place}: holds ${finished.length} evaluations (${finished.join(", ")}), and a column takes one. Name its folder.`,
      );
    for (const folder of finished)
      found.push({ folder, column, isNamed: column !== null || folder === path });
  }
  const { openResults } = await import("../view/results-files.ts");
  const { failuresOf } = await import("../view/results-schema.ts");
  const { readRunFile } = await import("../run/folder/run-file.ts");
  const files = await openResults(found.map(({ folder }) => folder));
  return Promise.all(
    files.map(async ({ results }, i): Promise<PlacedSet> => {
      const { folder = "", column = null, isNamed = true } = found[i] ?? {};
      const stages = await readRunFile(folder);
      const { limit, shuffle } = stages?.[0]?.options ?? {};
      const { questions } = results.protocol;
      return {
        ...results,
        folder,
        column,
        isNamed,
        samples: results.samplesPerTask,
        asked: typeof questions === "number" ? questions : results.n,
        errors: failuresOf(results).n,
        limit: numberOf(limit),
        shuffle: numberOf(shuffle),
      };
    }),
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** @example placeOf("2Wiki=ev/wiki") // { column: "2Wiki", path: "ev/wiki" } */
function placeOf(place: string): { column: string | null; path: string } {
  const [, column = "", path = ""] = /^([^=]+)=(.+)$/.exec(place) ?? [];
  if (existsSync(place) || column === "") return { column: null, path: place };
  return { column, path };
}

/** @throws {DataError} FILE_MISSING */
function findEvaluations(path: string): EvaluationFolders {
  if (!existsSync(path))
    throw new DataError("FILE_MISSING", `${path}: there is no such file or folder.`);
  const isResults = statSync(path).isFile() && basename(path) === "results.json";
  const found = evaluationsIn(isResults ? dirname(path) : path);
  if (found.finished.length > 0) return found;
  const [interrupted] = found.unfinished;
  const what =
    interrupted === undefined
      ? "neither it nor a folder in it has a results.json"
      : interrupted === path
        ? "the evaluation is not finished: there are rows, and no results.json"
        : `its evaluations are not finished: ${found.unfinished.join(", ")}`;
  const cure =
    interrupted === undefined
      ? "Name a folder that `agentrl eval --out` wrote, or one that holds such folders"
      : `\`agentrl resume ${interrupted}\` continues it`;
  throw new DataError("FILE_MISSING", `${path}: ${what}. ${cure}.`);
}
