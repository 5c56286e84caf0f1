/**
 * The folder of a dense index: `manifest.json`; `passages.jsonl` and `passage-starts.f64` (store/passage-file.ts);
 * `vectors.bin`, one record per passage (vector-format.ts); `graph.hnsw` where there is a graph. Where the vectors are in a file of FAISS, there is no
 * `vectors.bin` but `vectors.pages`, the page table of the vectors in that file.
 */
import { join } from "node:path";
import { z } from "../../base/schema.ts";
import { corrupt } from "../store/checked-file.ts";
import {
  fileEntrySchema,
  manifestBase,
  manifestPath,
  readManifest,
} from "../store/index-folder.ts";
import { encoderSettingsSchema } from "./encoder-settings.ts";
import { graphEntrySchema } from "./hnsw.ts";
import {
  fileRecordBytes,
  METRICS,
  VECTOR_STORAGES,
  type VectorFile,
  vectorFormat,
} from "./vector-format.ts";

const manifestSchema = z.strictObject({
  ...manifestBase,
  kind: z.literal("dense"),
  corpus: z.strictObject({ passages: z.int().min(1), sha256: z.string().length(64) }),
  encoder: z.strictObject({
    /** Folder or hub name at the time of building. */
    model: z.string(),
    hash: z.string().length(64),
    settings: encoderSettingsSchema,
  }),
  vectors: z.strictObject({
    storage: z.enum(VECTOR_STORAGES),
    dimensions: z.int().min(1),
    file: fileEntrySchema,
    /** Set where they are in a file of FAISS, as f32. */
    faiss: z
      .strictObject({
        /** Absolute, at the time of building. */
        path: z.string(),
        /** Byte at which the vectors begin. */
        offset: z.int().min(0),
        metric: z.enum(METRICS),
      })
      .optional(),
  }),
  passages: z.strictObject({ passages: fileEntrySchema, passageStarts: fileEntrySchema }),
  graph: graphEntrySchema.nullable(),
});

/** What a dense index says of itself. */
export type DenseManifest = z.output<typeof manifestSchema>;

/** @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT (also for an index of another kind). */
export async function readDenseManifest(folder: string): Promise<DenseManifest> {
  const manifest = await readManifest(folder, manifestSchema);
  const { file } = manifest.vectors;
  if (file.bytes !== manifest.corpus.passages * fileRecordBytes(vectorFile(folder, manifest)))
    throw corrupt(`${manifestPath(folder)}: its vectors are not as many as its passages`);
  return manifest;
}

/** Where the vectors of an index are. @param moved where their FAISS file is, if it has moved. */
export function vectorFile(
  folder: string,
  { vectors }: Pick<DenseManifest, "vectors">,
  moved?: string,
): VectorFile {
  const { storage, dimensions, file: entry, faiss } = vectors;
  const format = vectorFormat(storage, dimensions);
  if (faiss === undefined) return { path: vectorsPath(folder), entry, format };
  const { path, ...where } = faiss;
  const foreign = { ...where, table: join(folder, FAISS_TABLE) };
  return { path: moved ?? path, entry, format, foreign };
}

/** The page table of vectors in a FAISS file. */
export const FAISS_TABLE = "vectors.pages";

export function vectorsPath(folder: string): string {
  return join(folder, "vectors.bin");
}

export function graphPath(folder: string): string {
  return join(folder, "graph.hnsw");
}
