/**
 * A record as TensorFlow's files hold them: length (8 bytes, little-endian), its checksum, the content, its checksum. A checksum is
 * CRC-32C, turned right by 15 bits plus a constant, so that a checksum of what holds checksums is not one of zeros.
 *
 * Source: TensorFlow, tensorflow/core/lib/io/record_writer.h.
 */
export function tfRecord(content: Buffer): Buffer {
  const record = Buffer.alloc(content.length + 16);
  record.writeBigUInt64LE(BigInt(content.length), 0);
  record.writeUInt32LE(masked(crc32c(record.subarray(0, 8))), 8);
  content.copy(record, 12);
  record.writeUInt32LE(masked(crc32c(content)), 12 + content.length);
  return record;
}

function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/**
 * CRC-32C (Castagnoli), reflected polynomial 0x82F63B78.
 * @example crc32c(Buffer.from("123456789")) // 0xE3069283
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});
