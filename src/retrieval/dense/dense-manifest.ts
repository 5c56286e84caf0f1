/**
 * The folder of a dense index: `manifest.json`; `passages.jsonl` and `passage-starts.f64` (store/passage-file.ts);
 * `vectors.bin`, one record per passage (vector-format.ts); `graph.hnsw` where there is a graph.
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
import { VECTOR_STORAGES, type VectorFormat, vectorFormat } from "./vector-format.ts";

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
  }),
  passages: z.strictObject({ passages: fileEntrySchema, passageStarts: fileEntrySchema }),
  graph: graphEntrySchema.nullable(),
});

/** What a dense index says of itself. */
export type DenseManifest = z.output<typeof manifestSchema>;

/** @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT (also for an index of another kind). */
export async function readDenseManifest(folder: string): Promise<DenseManifest> {
  const manifest = await readManifest(folder, manifestSchema);
  const { recordBytes } = denseFormat(manifest);
  if (manifest.vectors.file.bytes !== manifest.corpus.passages * recordBytes)
    throw corrupt(`${manifestPath(folder)}: its vectors are not as many as its passages`);
  return manifest;
}

export function denseFormat({ vectors }: Pick<DenseManifest, "vectors">): VectorFormat {
  return vectorFormat(vectors.storage, vectors.dimensions);
}

export function vectorsPath(folder: string): string {
  return join(folder, "vectors.bin");
}

export function graphPath(folder: string): string {
  return join(folder, "graph.hnsw");
}
