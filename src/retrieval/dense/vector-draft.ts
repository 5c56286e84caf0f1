/**
 * The vectors of a build that is under way, in a folder beside the index (`OUT.draft`) that outlives an interruption:
 * `vectors.part`, records as they will be, and `draft.json`, how many of them are on disk for good.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { ConfigError, DataError } from "../../base/errors.ts";
import { makeFolder, readJson, writeJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { VectorFormat } from "./vector-format.ts";

const stateSchema = z.strictObject({
  /** Corpus, encoder and storage that the vectors are of. */
  of: z.string(),
  done: z.int().min(0),
  /** Of the records that are done. */
  crc32: z.int().min(0),
});

export interface VectorDraft {
  /** Vectors that are on disk for good. */
  readonly done: number;
  /** Appends records; when it resolves they outlive a crash. */
  append(records: Uint8Array): Promise<void>;
  /** @returns the records of vectors `from` up to `to`. */
  read(from: number, to: number): Uint8Array<ArrayBuffer>;
  close(): void;
}

export interface DraftOptions {
  /** What the vectors are of; a draft of anything else is not resumed. */
  of: string;
  format: VectorFormat;
  /** Continue a draft, or start one. */
  resume: boolean;
  discard: boolean;
}

function draftFolder(out: string): string {
  return `${out.replace(/\/+$/, "")}.draft`;
}

/**
 * Opens the draft of an index, or starts one.
 * @throws {ConfigError} INDEX_DRAFT when one exists without `resume` or `discard`, or it belongs to another build.
 */
export async function openDraft(out: string, options: DraftOptions): Promise<VectorDraft> {
  const { of, format, resume, discard } = options;
  const folder = draftFolder(out);
  if (discard && !resume) await removeDraft(out);
  const state = await readState(folder);
  if (state !== null) refuseUnlessSame(folder, state, options);
  await makeFolder(folder);
  const file = openSync(join(folder, "vectors.part"), state === null ? "w+" : "r+");
  let done = state?.done ?? 0;
  let crc = state?.crc32 ?? 0;
  const { recordBytes } = format;
  const read = (from: number, to: number): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array((to - from) * recordBytes);
    for (let at = 0; at < bytes.length;) {
      const got = readSync(
        file,
        bytes,
        at,
        Math.min(bytes.length - at, 1 << 30),
        from * recordBytes + at,
      );
      if (got === 0) throw damaged(folder);
      at += got;
    }
    return bytes;
  };
  const close = (): void => closeSync(file);
  try {
    if (state !== null && checksum(read, state.done) !== state.crc32) throw damaged(folder);
    ftruncateSync(file, done * recordBytes);
  } catch (error) {
    close();
    throw error;
  }
  return {
    get done() {
      return done;
    },
    async append(records) {
      for (let at = 0; at < records.length;)
        at += writeSync(file, records, at, records.length - at, done * recordBytes + at);
      fsyncSync(file);
      crc = crc32(records, crc);
      done += records.length / recordBytes;
      await writeJson(join(folder, "draft.json"), { of, done, crc32: crc });
    },
    read,
    close,
  };

  function refuseUnlessSame(
    where: string,
    found: z.output<typeof stateSchema>,
    given: DraftOptions,
  ): void {
    if (!given.resume)
      throw new ConfigError(
        "INDEX_DRAFT",
        `${where}: contains ${found.done} vectors of an interrupted build. Continue it with --resume, or start again with --overwrite.`,
      );
    if (found.of === given.of) return;
    throw new ConfigError(
      "INDEX_DRAFT",
      `${where}: its ${found.done} vectors belong to another corpus, encoder or storage. Use the original options, or start again with --overwrite.`,
    );
  }
}

/** Removes the draft of an index, if there is one. */
export async function removeDraft(out: string): Promise<void> {
  await rm(draftFolder(out), { recursive: true, force: true });
}

const CHECK_VECTORS = 4096;

function checksum(read: VectorDraft["read"], done: number): number {
  let crc = 0;
  for (let at = 0; at < done; at += CHECK_VECTORS)
    crc = crc32(read(at, Math.min(done, at + CHECK_VECTORS)), crc);
  return crc;
}

function damaged(folder: string): DataError {
  return new DataError(
    "INDEX_CORRUPT",
    `${folder}: its vectors were modified. Start again with --overwrite.`,
  );
}

async function readState(folder: string): Promise<z.output<typeof stateSchema> | null> {
  const value = await readJson(join(folder, "draft.json")).catch((error: unknown) => {
    if (error instanceof DataError && error.code === "FILE_MISSING") return null;
    throw damaged(folder);
  });
  if (value === null) return null;
  const checked = checkOptions(stateSchema, value);
  if (checked.problem === null) return checked.value;
  throw damaged(folder);
}
