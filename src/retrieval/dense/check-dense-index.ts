import { formatFineScore } from "../../base/format.ts";
import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { random } from "../../base/random.ts";
import { readThrough } from "../store/checked-file.ts";
import { searchedText } from "../store/passage-file.ts";
import type { Scored } from "../top-k.ts";
import { type DenseManifest, graphPath, readDenseManifest, vectorFile } from "./dense-manifest.ts";
import { type DenseRetriever, openDenseIndex, openVectors } from "./open-dense-index.ts";
import type { VectorFile } from "./vector-format.ts";

export interface DenseFinding {
  check: "checksums" | "self-retrieval" | "graph-recall";
  ok: boolean;
  /** What was looked at and what was found. */
  detail: string;
}

export interface CheckDenseOptions {
  /** Passages whose text is searched. */
  sample?: number;
  /** Where the model is, when it has moved. */
  model?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A passage's own text must bring it back among this many hits. */
const K = 10;

/** Share of passages that must come back: fewer means that vectors and passages do not belong together. */
const SELF_RETRIEVAL_SHARE = 0.99;

/** Share of the exact hits that the graph must find. */
const GRAPH_RECALL = 0.95;

/**
 * Checks a dense index folder: every checksum; that passages, encoded again, find themselves by exact search; that the
 * graph, if any, finds the exact hits. The sample is the same on every run.
 *
 * @returns findings in this order; the last two only when the files are intact.
 * @throws as `openDenseIndex`, except that damage is a finding.
 */
export async function checkDenseIndex(
  folder: string,
  { sample = 100, model, signal }: CheckDenseOptions = {},
): Promise<DenseFinding[]> {
  const manifest = await readDenseManifest(folder);
  const checksums = await checkChecksums(folder, manifest, signal);
  if (!checksums.ok) return [checksums];
  const retriever = await openDenseIndex(folder, { model, exact: true });
  try {
    const positions = samplePositions(manifest.corpus.passages, sample);
    const texts = positions.map((position) => searchedText(retriever.passages.read(position)));
    const queries = await retriever.encoder.encodePassages(texts, signal);
    const exact = await retriever.vectors.search(queries, K, signal);
    const findings = [checksums, selfRetrieval(retriever, positions, exact)];
    if (manifest.graph === null) return findings;
    const graph = await openVectors(folder, manifest, {});
    const found = await graph.search(queries, K, signal);
    await graph.close();
    return [...findings, graphRecall(graph.kind, exact, found)];
  } finally {
    await retriever.close();
  }
}

async function checkChecksums(
  folder: string,
  manifest: DenseManifest,
  signal?: AbortSignal,
): Promise<DenseFinding> {
  const { passages, graph } = manifest;
  const files: Pick<VectorFile, "path" | "entry" | "foreign">[] = [
    { path: join(folder, "passages.jsonl"), entry: passages.passages },
    { path: join(folder, "passage-starts.f64"), entry: passages.passageStarts },
    vectorFile(folder, manifest),
  ];
  const damaged: string[] = [];
  for (const { path, entry, foreign } of files) {
    await readThrough(path, entry, { signal, outside: foreign }).catch((error: unknown) => {
      signal?.throwIfAborted();
      damaged.push(errorMessage(error).split(". ")[0]!);
    });
  }
  if (graph !== null) {
    const path = graphPath(folder);
    const found = await sha256File(path).catch(errorMessage);
    if (found !== graph.sha256) damaged.push(`${path}: missing or modified`);
  }
  const bytes = files.reduce((sum, { entry }) => sum + entry.bytes, graph?.bytes ?? 0);
  const count = files.length + (graph === null ? 0 : 1);
  const detail =
    damaged.length === 0 ? `${count} files, ${bytes} bytes, all intact` : damaged.join("; ");
  return { check: "checksums", ok: damaged.length === 0, detail };
}

function samplePositions(count: number, sample: number): number[] {
  const draw = random("dense index check");
  const positions = new Set<number>();
  for (let tries = 0; tries < 4 * sample && positions.size < sample; tries++)
    positions.add(draw.int(count));
  return [...positions];
}

/** Passages of equal text share their vector; any of them counts, by its score. */
function selfRetrieval(
  { passages }: DenseRetriever,
  positions: readonly number[],
  hits: readonly Scored[][],
): DenseFinding {
  const lost = positions.filter((position, i) => {
    const own = searchedText(passages.read(position));
    return !hits[i]!.some(
      (hit) => hit.position === position || searchedText(passages.read(hit.position)) === own,
    );
  });
  const found = positions.length - lost.length;
  const example = lost[0] === undefined ? "" : `; not, for example, "${passages.read(lost[0]).id}"`;
  return {
    check: "self-retrieval",
    ok: found >= SELF_RETRIEVAL_SHARE * positions.length,
    detail: `${found} of ${positions.length} passages find themselves among ${K} hits${example}`,
  };
}

function graphRecall(
  kind: string,
  exact: readonly Scored[][],
  found: readonly Scored[][],
): DenseFinding {
  let wanted = 0;
  let common = 0;
  for (const [i, hits] of exact.entries()) {
    const positions = new Set(found[i]!.map(({ position }) => position));
    wanted += hits.length;
    common += hits.filter(({ position }) => positions.has(position)).length;
  }
  const recall = common / wanted;
  return {
    check: "graph-recall",
    ok: kind === "flat" || recall >= GRAPH_RECALL,
    detail:
      kind === "flat"
        ? "not checked: a graph of more than 4 GiB needs hnswlib-node, which is not installed"
        : `${kind} finds ${formatFineScore(recall)} of the first ${K} exact hits of ${exact.length} passages`,
  };
}
