/** The bytes of a flat index as FAISS writes it; test/golden/faiss-flat.test.ts compares them with FAISS's own. */
export function faissBytes(
  vectors: Float32Array,
  dimensions: number,
  metric: "inner-product" | "l2" = "inner-product",
): Buffer {
  const head = Buffer.alloc(45);
  const count = vectors.length / dimensions;
  head.write(metric === "l2" ? "IxF2" : "IxFI", "latin1");
  head.writeInt32LE(dimensions, 4);
  head.writeBigInt64LE(BigInt(count), 8);
  head.writeBigInt64LE(1n << 20n, 16);
  head.writeBigInt64LE(1n << 20n, 24);
  head.writeInt8(1, 32);
  head.writeInt32LE(metric === "l2" ? 1 : 0, 33);
  head.writeBigUInt64LE(BigInt(vectors.length), 37);
  return Buffer.concat([head, Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength)]);
}
