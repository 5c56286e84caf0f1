import { readFileSync } from "node:fs";

/** A value of a GGUF file's metadata. */
export type GgufValue = number | bigint | boolean | string | GgufValue[];

/**
 * The metadata of a GGUF file (version 2 or 3): its tensors, if any, are not read.
 * Source: the format's specification in ggml's docs (magic, version, counts, then key, type, value).
 */
export function ggufMetadata(path: string): Map<string, GgufValue> {
  const bytes = readFileSync(path);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.toString("latin1", 0, 4) !== "GGUF") throw new Error(`${path}: is no GGUF file`);
  let at = 16; // magic, version, number of tensors
  const count = Number(view.getBigUint64(at, true));
  at += 8;

  const text = (): string => {
    const length = Number(view.getBigUint64(at, true));
    at += 8 + length;
    return bytes.toString("utf8", at - length, at);
  };
  /** By the format's numbers of types; 8 and 9 are text and list. */
  const scalars: readonly (readonly [size: number, read: () => GgufValue] | null)[] = [
    [1, () => view.getUint8(at)],
    [1, () => view.getInt8(at)],
    [2, () => view.getUint16(at, true)],
    [2, () => view.getInt16(at, true)],
    [4, () => view.getUint32(at, true)],
    [4, () => view.getInt32(at, true)],
    [4, () => view.getFloat32(at, true)],
    [1, () => view.getUint8(at) !== 0],
    null,
    null,
    [8, () => view.getBigUint64(at, true)],
    [8, () => view.getBigInt64(at, true)],
    [8, () => view.getFloat64(at, true)],
  ];
  const value = (type: number): GgufValue => {
    if (type === 8) return text();
    if (type === 9) {
      const inner = view.getUint32(at, true);
      const length = Number(view.getBigUint64(at + 4, true));
      at += 12;
      return Array.from({ length }, () => value(inner));
    }
    const scalar = scalars[type];
    if (scalar === null || scalar === undefined) throw new Error(`${path}: type ${type}`);
    const read = scalar[1]();
    at += scalar[0];
    return read;
  };

  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const key = text();
    const type = view.getUint32(at, true);
    at += 4;
    metadata.set(key, value(type));
  }
  return metadata;
}
