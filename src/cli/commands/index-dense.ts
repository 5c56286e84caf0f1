/** The dense half of `agentrl index build|plan|check`: options and actions, for index-command.ts to hook in. */
import { definedValues } from "../../base/defined-values.ts";
import { formatBytes, formatDuration, formatFineScore } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import { deviceNames } from "../../onnx/device-names.ts";
import { requireDevice } from "../../onnx/device-probe.ts";
import type { Agreement } from "../../retrieval/dense/adopt-faiss.ts";
import type { DenseFinding } from "../../retrieval/dense/check-dense-index.ts";
import type { DenseManifest } from "../../retrieval/dense/dense-manifest.ts";
import type { Encoder } from "../../retrieval/dense/encoder.ts";
import type { DensePlan } from "../../retrieval/dense/plan-dense-index.ts";
import { sizeOnDisk } from "../../retrieval/store/checked-file.ts";
import type { CliContext } from "../command.ts";
import type { OpenCorpus } from "../data-flags.ts";
import { decimal, type Flags, options, refuseStray, wholeNumber } from "../options.ts";
import { type Progress, startProgress } from "../progress.ts";
import { usage } from "../usage.ts";

/** Options of a dense index; --encoder selects it. */
export const DENSE_OPTIONS = options({
  encoder: ["<model>", "make a dense index: folder or hub name of an ONNX embedding model"],
  faiss: [
    "<file>",
    "with --encoder: take the vectors from a flat FAISS index of the corpus, such as Search-R1's e5_Flat.index, instead of encoding; " +
      "its n-th vector is the n-th passage's, and the file stays where it is",
  ],
  queryPrefix: ["<text>", "text before each query (default: the model's; `query: ` for E5)"],
  passagePrefix: ["<text>", "text before each passage (default: the model's; `passage: ` for E5)"],
  pooling: [
    "<how>",
    "how token vectors become one vector (default: the model's, else mean)",
    ["mean", "cls", "last"],
  ],
  innerProduct: ["", "keep the lengths of vectors (default: the model's, else cosines)"],
  maxTokens: ["<n>", "cut longer texts at the end (default: the model's limit)", wholeNumber(4)],
  device: ["<name>", "where the encoder runs while the index is built (default: cpu)", deviceNames],
  dtype: ["<name>", "model file to use: fp32, fp16, q8, … (default: the first that exists)"],
  vectors: [
    "<type>",
    "dtype of stored vectors: 4, 2 or 1 bytes per number (default: f32)",
    ["f32", "f16", "int8"],
  ],
  graph: [
    "<kind>",
    "flat is exact; hnsw is faster above about 100,000 passages (default: flat)",
    ["hnsw", "flat"],
  ],
  m: ["<n>", "links per passage in the graph (default: 16)", wholeNumber(2, 256)],
  efConstruction: ["<n>", "candidates while building the graph (default: 200)", wholeNumber(10)],
  efSearch: [
    "<n>",
    "candidates of a query in the graph (default: 128, or the smallest value that finds 99 % of the exact results, if larger)",
    wholeNumber(1),
  ],
  maxMemory: ["<GB>", "fail if the opened index takes more memory", decimal(0)],
});

export type DenseFlags = Flags<typeof DENSE_OPTIONS>;

/** Further flags of a plan; sizes in GB. */
export type DensePlanFlags = DenseFlags & { out?: string; maxDisk?: number };

/** Further flags of a build. */
type DenseBuildFlags = DenseFlags & { out: string; overwrite?: true; resume?: true };

/** Flags that say how vectors are made or stored. */
const MAKING = ["vectors", "graph", "m", "efConstruction", "efSearch", "maxMemory"] as const;

/** Refuses flags that a FAISS file makes useless. @throws {ConfigError} USAGE */
export function checkFaissFlags(
  flags: DenseFlags & { plan?: true | undefined; resume?: true | undefined },
): void {
  if (flags.faiss === undefined) return;
  if (flags.plan === true)
    throw usage(
      "--plan and --faiss are both given: nothing is encoded, so there is nothing to plan. The index takes the size of the passages' text, and 1 MB for each GB of vectors. Leave --plan out.",
    );
  refuseStray(flags, [...MAKING, "resume"], "an index whose vectors are made here, not by --faiss");
}

/**
 * Makes an index of a corpus and a FAISS file, with progress.
 * @throws {ConfigError} USAGE as `checkFaissFlags`; as `adoptFaiss`.
 */
export async function buildOfFaiss(
  corpus: OpenCorpus,
  flags: DenseBuildFlags & { encoder: string; faiss: string },
  context: CliContext,
): Promise<FaissSummary> {
  const { adoptFaiss } = await import("../../retrieval/dense/adopt-faiss.ts");
  const begin = performance.now();
  const { out, faiss, overwrite = false } = flags;
  return withEncoder(flags, async (encoder) => {
    const bar = phaseBar(context);
    try {
      const { manifest, agreement } = await adoptFaiss(corpus.passages(), out, {
        faiss,
        encoder,
        overwrite,
        source: corpus.path,
        signal: context.signal,
        onProgress: bar.update,
      });
      const seconds = (performance.now() - begin) / 1000;
      const metric = manifest.vectors.faiss?.metric ?? "";
      return { ...summary(out, manifest, seconds), faiss, metric, agreement };
    } finally {
      bar.stop();
    }
  });
}

/** The same of an index with vectors in a FAISS file; the bytes on disk are those of the folder. */
interface FaissSummary extends DenseSummary {
  faiss: string;
  metric: string;
  agreement: Agreement;
}

/** Result of a dense build. */
export interface DenseSummary {
  out: string;
  passages: number;
  dimensions: number;
  bytesOnDisk: number;
  seconds: number;
  vectors: string;
  graph: "hnsw" | "flat";
  encoder: string;
}

/**
 * Plans, refuses an index that does not fit, and builds, with progress and time left for each phase.
 * @throws as `planDenseIndex`, `refuseUnlessFits`, `buildDenseIndex`.
 */
export async function buildDense(
  corpus: OpenCorpus,
  flags: DenseBuildFlags & { encoder: string },
  context: CliContext,
): Promise<DenseSummary> {
  const [{ buildDenseIndex }, { planDenseIndex, refuseUnlessFits }] = await Promise.all([
    import("../../retrieval/dense/build-dense-index.ts"),
    import("../../retrieval/dense/plan-dense-index.ts"),
  ]);
  const begin = performance.now();
  const { out, overwrite = false, resume = false, maxMemory } = flags;
  return withEncoder(flags, async (encoder) => {
    const options = {
      ...denseOptionsOf(flags),
      encoder,
      source: corpus.path,
      signal: context.signal,
    };
    const plan = await planDenseIndex(corpus.passages(), { ...options, sample: 32 });
    await refuseUnlessFits(plan, { out, maxMemory: bytesOf(maxMemory) });
    const bar = phaseBar(context);
    try {
      const manifest = await buildDenseIndex(corpus.passages(), out, {
        ...options,
        overwrite,
        resume,
        onProgress: bar.update,
      });
      return summary(out, manifest, (performance.now() - begin) / 1000);
    } finally {
      bar.stop();
    }
  });
}

/** The cost of a dense index. @throws as `planDenseIndex`; INDEX_TOO_LARGE when --out or a limit is given and it does not fit. */
export async function planDense(
  corpus: OpenCorpus,
  flags: DensePlanFlags & { encoder: string },
  context: CliContext,
): Promise<DensePlan> {
  const { planDenseIndex, refuseUnlessFits } =
    await import("../../retrieval/dense/plan-dense-index.ts");
  return withEncoder(flags, async (encoder) => {
    const options = {
      ...denseOptionsOf(flags),
      encoder,
      source: corpus.path,
      signal: context.signal,
    };
    const plan = await planDenseIndex(corpus.passages(), options);
    const { out, maxMemory, maxDisk } = flags;
    if (out !== undefined || maxMemory !== undefined || maxDisk !== undefined) {
      const limits = { maxMemory: bytesOf(maxMemory), maxDisk: bytesOf(maxDisk) };
      await refuseUnlessFits(plan, { out: out ?? ".", ...limits });
    }
    return plan;
  });
}

/** A plan as text. */
export function densePlanText(plan: DensePlan): string {
  const { passages, sampled, dimensions, vectors, graph, M } = plan;
  const rows = [
    [
      "on disk",
      formatBytes(plan.bytesOnDisk),
      `text ${formatBytes(plan.textBytes)}, vectors ${formatBytes(plan.vectorBytes)}, graph ${formatBytes(plan.graphBytes)}`,
    ],
    ["while building", formatBytes(plan.temporaryBytes), "beside that, until it is done"],
    [
      "in memory",
      formatBytes(plan.residentBytes),
      graph === "flat" ? "once opened; with little memory, read from disk" : "once opened",
    ],
    [
      "to build",
      formatDuration(plan.seconds),
      `encoding ${formatDuration(plan.encodingSeconds)}, graph ${formatDuration(plan.graphSeconds)}, on this machine`,
    ],
  ];
  const shape = `${dimensions} dimensions, ${vectors}, ${graph}${graph === "flat" ? "" : ` with M ${M}`}`;
  return `${passages} passages, ${shape}; from the first ${sampled}\n${renderText({ columns: ["", { label: "", align: "right" }], rows })}`;
}

/** @throws as `checkDenseIndex`. */
export async function checkDense(folder: string, { signal }: CliContext): Promise<DenseFinding[]> {
  const { checkDenseIndex } = await import("../../retrieval/dense/check-dense-index.ts");
  return checkDenseIndex(folder, { signal });
}

/** A finished build as text. */
export function denseSummaryText(summary: DenseSummary): string {
  const { out, passages, dimensions, vectors, graph, bytesOnDisk, seconds } = summary;
  return `${out}: ${passages} passages, ${dimensions} dimensions, ${vectors}, ${graph}, ${formatBytes(bytesOnDisk)}, built in ${formatDuration(seconds)}`;
}

/** A finished index of a FAISS file as text. */
export function faissSummaryText(summary: FaissSummary): string {
  const { out, passages, dimensions, faiss, metric, agreement, bytesOnDisk, seconds } = summary;
  return (
    `${out}: ${passages} passages, ${dimensions} dimensions, ${metric}, ${formatBytes(bytesOnDisk)} beside ${faiss}, built in ${formatDuration(seconds)}\n` +
    `${agreement.own} of ${agreement.sampled} sampled passages, encoded again, are nearest to their own vector; mean cosine ${formatFineScore(agreement.cosine)}`
  );
}

async function withEncoder<T>(
  flags: DenseFlags & { encoder: string },
  work: (encoder: Encoder) => Promise<T>,
): Promise<T> {
  const [{ openEncoder }, { encoderOptions }, { parseOptions }] = await Promise.all([
    import("../../retrieval/dense/encoder.ts"),
    import("../../retrieval/dense/encoder-settings.ts"),
    import("../../base/schema.ts"),
  ]);
  const { queryPrefix, passagePrefix, pooling, innerProduct, maxTokens, dtype, device } = flags;
  if (device !== undefined) await requireDevice(device);
  const normalize = innerProduct === true ? false : undefined;
  const options = definedValues({
    queryPrefix,
    passagePrefix,
    pooling,
    normalize,
    maxTokens,
    dtype,
  });
  const encoder = await openEncoder(
    flags.encoder,
    parseOptions(encoderOptions, options, "--encoder"),
    { device },
  );
  try {
    return await work(encoder);
  } finally {
    await encoder.close();
  }
}

function denseOptionsOf({ vectors, graph, m, efConstruction, efSearch }: DenseFlags): object {
  return definedValues({ vectors, graph, M: m, efConstruction, efSearch });
}

export function bytesOf(gigabytes: number | undefined): number | undefined {
  return gigabytes === undefined ? undefined : gigabytes * 1e9;
}

const UNITS = {
  passages: { label: "reading", unit: "passages" },
  vectors: { label: "checking", unit: "vectors" },
  encoding: { label: "encoding", unit: "passages" },
  graph: { label: "linking", unit: "vectors" },
} as const;

/** One bar after the other. */
function phaseBar(context: CliContext): {
  update: (phase: keyof typeof UNITS, done: number, total: number) => void;
  stop: () => void;
} {
  let shown: { phase: string; bar: Progress; begin: number; from: number } | null = null;
  return {
    update(phase, done, total) {
      if (shown?.phase !== phase) {
        shown?.bar.stop();
        const bar = startProgress(context, { ...UNITS[phase], total });
        shown = { phase, bar, begin: performance.now(), from: done };
      }
      const seconds = (performance.now() - shown.begin) / 1000;
      const rate = seconds > 0 ? Math.round((done - shown.from) / seconds) : 0;
      shown.bar.update(done, `${rate}/s`);
    },
    stop: () => shown?.bar.stop(),
  };
}

function summary(out: string, manifest: DenseManifest, seconds: number): DenseSummary {
  const { corpus, vectors, passages, graph, encoder } = manifest;
  const { file, faiss } = vectors;
  const ofVectors = faiss === undefined ? file : { bytes: sizeOnDisk(file.bytes) - file.bytes };
  const files = [ofVectors, passages.passages, passages.passageStarts, graph ?? { bytes: 0 }];
  return {
    out,
    passages: corpus.passages,
    dimensions: vectors.dimensions,
    bytesOnDisk: files.reduce((sum, { bytes }) => sum + bytes, 0),
    seconds,
    vectors: vectors.storage,
    graph: graph === null ? "flat" : "hnsw",
    encoder: encoder.model,
  };
}
