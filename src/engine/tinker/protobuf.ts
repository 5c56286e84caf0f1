/** The four wire types of protobuf that the Tinker messages use: varint, 64-bit, bytes and 32-bit. Source: protobuf.dev, "Encoding". */
export class ProtobufWriter {
  readonly #parts: Uint8Array[] = [];

  int(field: number, value: number): this {
    return this.#varint(field * 8).#varint(value);
  }

  double(field: number, value: number): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#varint(field * 8 + 1).#parts.push(bytes);
    return this;
  }

  /** The bytes of an array are written little-endian, as the platform stores them. */
  bytes(field: number, value: Uint8Array | Int32Array | Float32Array | BigInt64Array): this {
    this.#varint(field * 8 + 2)
      .#varint(value.byteLength)
      .#parts.push(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, value: ProtobufWriter): this {
    return this.bytes(field, value.finish());
  }

  packed(field: number, values: readonly number[]): this {
    const inner = new ProtobufWriter();
    for (const value of values) inner.#varint(value);
    return this.message(field, inner);
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  #varint(value: number): this {
    const bytes: number[] = [];
    let left = value;
    while (left > 127) {
      bytes.push((left % 128) + 128);
      left = Math.floor(left / 128);
    }
    bytes.push(left);
    this.#parts.push(Uint8Array.from(bytes));
    return this;
  }
}

/** One field of a message: a number, or the bytes of a text, an array or a message. */
export type ProtobufField = [field: number, value: number | Uint8Array];

/** The fields of a message in order. Negative varints, which no Tinker message has, read as large numbers. @throws {RangeError} */
export function* protobufFields(bytes: Uint8Array): Generator<ProtobufField> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        yield [field, varint()];
        break;
      case 1:
        yield [field, view.getFloat64(at, true)];
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (at + length > bytes.length)
          throw new RangeError(`field ${field} has ${length} bytes, but the message ends`);
        yield [field, bytes.subarray(at, at + length)];
        at += length;
        break;
      }
      case 5:
        yield [field, view.getFloat32(at, true)];
        at += 4;
        break;
      default:
        throw new RangeError(`wire type ${tag % 8} of field ${field}`);
    }
  }
}

/** @throws {RangeError} when the field is a number. */
export function bytesOf([field, value]: ProtobufField): Uint8Array {
  if (typeof value === "number") throw new RangeError(`field ${field} is a number`);
  return value;
}

/** @throws {RangeError} when the field has bytes. */
export function numberOf([field, value]: ProtobufField): number {
  if (typeof value !== "number") throw new RangeError(`field ${field} is not a number`);
  return value;
}

export function textOf(field: ProtobufField): string {
  return new TextDecoder().decode(bytesOf(field));
}

/** Numbers of a `repeated int64`, packed or not. */
export function packedOf(field: ProtobufField): number[] {
  if (typeof field[1] === "number") return [field[1]];
  // A packed list is varints one after the other: read it as fields of an unnamed message is not possible.
  const numbers: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of field[1]) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte > 127) continue;
    numbers.push(value);
    [value, scale] = [0, 1];
  }
  return numbers;
}
