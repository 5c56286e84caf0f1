/** Writes GGUF files for tests, independently of src: metadata of text, numbers (uint32 or float32), booleans and lists of these. */
type Value = string | number | boolean | { float: number } | readonly Value[];

export interface GgufTensorBytes {
  name: string;
  /** Inner axis first, as in the file. */
  dims: readonly number[];
  type: number;
  data: Uint8Array;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string): Buffer =>
  Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function typeOf(value: Value): number {
  if (Array.isArray(value)) return 9;
  if (typeof value === "string") return 8;
  return typeof value === "boolean" ? 7 : typeof value === "number" ? 4 : 6;
}

function valueBytes(value: Value): Buffer {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean") return Buffer.from([value ? 1 : 0]);
  if (typeof value === "number") return u32(value);
  if ("float" in value) return Buffer.from(Float32Array.of(value.float).buffer);
  const items = value.map(valueBytes);
  return Buffer.concat([u32(typeOf(value[0] ?? "")), u64(value.length), ...items]);
}

/** A file with these metadata and tensors. */
export function ggufBytes(
  metadata: Readonly<Record<string, Value>>,
  tensors: readonly GgufTensorBytes[] = [],
  version = 3,
): Buffer {
  const alignment = 32;
  const padded = (bytes: Uint8Array): Buffer =>
    Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
  const values = Object.entries(metadata).map(([key, value]) =>
    Buffer.concat([text(key), u32(typeOf(value)), valueBytes(value)]),
  );
  let offset = 0;
  const infos = tensors.map(({ name, dims, type, data }) => {
    const info = Buffer.concat([
      text(name),
      u32(dims.length),
      ...dims.map(u64),
      u32(type),
      u64(offset),
    ]);
    offset += padded(data).length;
    return info;
  });
  const counts = [u64(tensors.length), u64(values.length)];
  const header = Buffer.concat([Buffer.from("GGUF"), u32(version), ...counts, ...values, ...infos]);
  return Buffer.concat([padded(header), ...tensors.map(({ data }) => padded(data))]);
}
