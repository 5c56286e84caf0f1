import { open, type FileHandle } from "node:fs/promises";
import { DataError, errorMessage } from "../../base/errors.ts";
import { refuseForeign } from "../../base/foreign-file.ts";
import { readFully, startOf } from "../read-fully.ts";
import { nonFinite } from "../safetensors.ts";
import { firstNonFinite } from "../stored-numbers.ts";
import {
  type GgufHeader,
  type GgufTensor,
  HeaderContinues,
  parseGgufHeader,
} from "./gguf-header.ts";

/** An open GGUF file; tensors are read one by one. */
export interface GgufFile extends GgufHeader {
  readonly path: string;
  /**
   * Reads one tensor as float32, through a buffer of 256 KiB.
   * @param into array with as many elements as the tensor.
   * @throws {DataError} GGUF_BAD when the file was truncated after it was opened; WEIGHT_NOT_FINITE for NaN or an infinity.
   */
  read(name: string, into: Float32Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a GGUF file and checks its header against its size.
 * @throws {DataError} FILE_MISSING; GGUF_BAD when the file is truncated or damaged, or a tensor has an unsupported type.
 */
export async function openGguf(path: string): Promise<GgufFile> {
  const file = await open(path).catch((error: unknown) => {
    throw new DataError("FILE_MISSING", `${path}: cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  });
  try {
    const header = await readHeader(file, path);
    return {
      path,
      ...header,
      read: (name, into) => readTensor(file, path, header.tensors.get(name)!, into),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** GGUF_BAD with the file, the problem and the advice. */
function badGguf(path: string, what: string): DataError {
  return new DataError("GGUF_BAD", `${path}: ${what}. Download the file again, or choose another.`);
}

/** First bytes to read, and the most: vocabularies of 256 000 tokens with their merges need 20 MB. */
const FIRST = 2 ** 22;
const MOST = 2 ** 28;

async function readHeader(file: FileHandle, path: string): Promise<GgufHeader> {
  const { size } = await file.stat();
  const bad = (what: string): DataError => badGguf(path, what);
  refuseForeign(path, await startOf(file, path));
  for (let length = FIRST; ; length *= 4) {
    const bytes = Buffer.alloc(Math.min(length, size));
    await readFully(file, bytes, 0, bad);
    try {
      return parseGgufHeader(bytes, size, bad);
    } catch (error) {
      if (!(error instanceof HeaderContinues)) throw error;
      if (length >= MOST) throw bad(`is damaged: its metadata need more than ${MOST} bytes`);
    }
  }
}

/** Size of the read buffer, about. */
const PIECE = 2 ** 18;

async function readTensor(
  file: FileHandle,
  path: string,
  { name, shape, type, at, byteLength }: GgufTensor,
  into: Float32Array,
): Promise<void> {
  const { block, bytes, widen } = type;
  const blocks = Math.floor(PIECE / bytes);
  const piece = new Uint8Array(Math.min(blocks * bytes, byteLength));
  for (let done = 0; done < byteLength; done += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, byteLength - done));
    await readFully(file, part, at + done, (what) => badGguf(path, what));
    const first = (done / bytes) * block;
    widen(part, into.subarray(first, first + (part.length / bytes) * block));
  }
  const wrong = firstNonFinite(into, "F32");
  if (wrong >= 0) throw nonFinite(path, `"${name}" [${shape.join(", ")}] at index ${wrong}`);
}
