/** Just enough of protobuf's wire format to write messages. Fields that are given nothing are left out, as protobuf does. */

/** One field of a message, as it goes over the wire. */
export type Field = Buffer;

/** Fields one after another: the bytes of a message. */
export function message(...fields: readonly (Field | null)[]): Buffer {
  return Buffer.concat(fields.filter((field) => field !== null));
}

/** A nested message, text in UTF-8, or bytes. */
export function bytesField(number: number, value: string | Buffer): Field {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return Buffer.concat([varint(tag(number, 2)), varint(bytes.length), bytes]);
}

/** int64, enum or bool. @param value a whole number from 0 to 2⁵³ − 1. */
export function intField(number: number, value: number): Field {
  return Buffer.concat([varint(tag(number, 0)), varint(value)]);
}

/** 64 bits, little-endian. */
export function doubleField(number: number, value: number): Field {
  const field = Buffer.alloc(9);
  field[0] = tag(number, 1);
  field.writeDoubleLE(value, 1);
  return field;
}

/** 32 bits, little-endian; the value is rounded to them. */
export function floatField(number: number, value: number): Field {
  const field = Buffer.alloc(5);
  field[0] = tag(number, 5);
  field.writeFloatLE(value, 1);
  return field;
}

/** Field numbers here are below 16, so that a tag is one byte. */
function tag(number: number, wireType: number): number {
  return number * 8 + wireType;
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
