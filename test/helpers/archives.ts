import { crc32, deflateRawSync } from "node:zlib";

/** A zip archive. @param options.long writes sizes and places as in archives of more than 4 GB. */
export function zipOf(
  files: ReadonlyMap<string, Buffer>,
  { stored = false, long = false } = {},
): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const packed = stored ? content : deflateRawSync(content);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(stored ? 0 : 8, 10);
    entry.writeUInt32LE(crc32(content), 16);
    entry.writeUInt32LE(long ? 0xffffffff : packed.length, 20);
    entry.writeUInt32LE(long ? 0xffffffff : content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(long ? 0xffffffff : offset, 42);
    const extra = Buffer.alloc(long ? 28 : 0);
    if (long) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      [content.length, packed.length, offset].forEach((value, i) =>
        extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i),
      );
      entry.writeUInt16LE(extra.length, 30);
    }
    bodies.push(header, name, packed);
    directory.push(entry, name, extra);
    offset += header.length + name.length + packed.length;
  }
  const entries = Buffer.concat(directory);
  return Buffer.concat([...bodies, entries, ...endOf(files.size, entries.length, offset, long)]);
}

function endOf(count: number, size: number, offset: number, long: boolean): Buffer[] {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(long ? 0xffff : count, 10);
  end.writeUInt32LE(long ? 0xffffffff : size, 12);
  end.writeUInt32LE(long ? 0xffffffff : offset, 16);
  if (!long) return [end];
  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(0x06064b50, 0);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  return [end64, locator, end];
}
