/**
 * Just enough of protobuf's wire format to write messages. Empty fields are left out, as protobuf
 * does.
 */

/** One field of a message, as it goes over the wire. */
export type Field = Buffer;

/** Fields one after another: the bytes of a message. */
export function message(...fields: readonly (Field | null)[]): Buffer {
  return Buffer.concat(fields.filter((field) => field !== null));
}

/** A nested message, text in UTF-8, or bytes. */
export function bytesField(number: number, value: string | Buffer): Field {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return Buffer.concat([tag(number, 2), varint(bytes.length), bytes]);
}

/** int64, enum or bool. @param value a whole number from 0 to 2⁵³ − 1. */
export function intField(number: number, value: number): Field {
  return Buffer.concat([tag(number, 0), varint(value)]);
}

/** 64 bits, little-endian. */
export function doubleField(number: number, value: number): Field {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(number, 1), bytes]);
}

/** 32 bits, little-endian; the value is rounded to them. */
export function floatField(number: number, value: number): Field {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(number, 5), bytes]);
}

function tag(number: number, wireType: number): Buffer {
  return varint(number * 8 + wireType);
}

/** Seven bits a byte, the lowest first; by division, since bit operations end at 32 bits. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  bytes.push(left);
  return Buffer.from(bytes);
}
