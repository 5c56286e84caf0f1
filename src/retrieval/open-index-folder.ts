import { corrupt } from "./store/checked-file.ts";
import { indexKind, manifestPath } from "./store/index-folder.ts";
import type { Retriever } from "./retriever.ts";

/**
 * Opens an index folder of any kind, which its manifest determines.
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT, and the errors of that kind.
 */
export async function openIndexFolder(folder: string): Promise<Retriever> {
  const kind = await indexKind(folder);
  // Each kind loads its libraries only when it is opened.
  if (kind === "bm25") return (await import("./bm25/open-index.ts")).openIndex(folder);
  if (kind === "dense") return (await import("./dense/open-dense-index.ts")).openDenseIndex(folder);
  throw corrupt(`${manifestPath(folder)}: the kind is "${kind}"; known: bm25 and dense`);
}
