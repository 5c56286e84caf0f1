import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-root.ts";

export type CardKind = "questions" | "corpus";

export const cardFolders: Readonly<Record<CardKind, string>> = {
  questions: join(packageRoot, "datasets"),
  corpus: join(packageRoot, "datasets", "corpora"),
};

/** Sorted names of the datasets of a kind that have a card; reads no card. */
export function cardNames(kind: CardKind): string[] {
  const folder = cardFolders[kind];
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();
}
