/** Values of Parquet files, exact: those that JavaScript would change become texts, as pandas prints them. */
import { isUtf8 } from "node:buffer";
import type { SchemaElement } from "hyparquet";
import { numberOf, parseExact } from "../base/exact-json.ts";

/** A value without a text, such as bytes that are not UTF-8: no field of a record takes it, and messages name its type. */
class ForeignValue {
  readonly type: string;

  constructor(type: string) {
    this.type = type;
  }

  toJSON(): string {
    return `a value of type ${this.type}`;
  }
}

type Read = (stored: never) => unknown;

/** A column: how its values are read, and as what the library must leave them. */
export interface Leaf {
  read: (stored: unknown) => unknown;
  stored: SchemaElement;
}

/** The parsers of the library that stay in use. */
export const parsers = {
  stringFromBytes: (bytes: Uint8Array) => (bytes as unknown) && textOf(bytes),
  // Of INT96 alone: other timestamps are left as numbers.
  timestampFromNanoseconds: (nanos: bigint) => timestampText(nanos, ""),
};

/** @param element a leaf of the schema. */
export function leafOf(element: SchemaElement): Leaf {
  const { converted_type: _, logical_type: __, ...plain } = element;
  const read = readerOf(element);
  // The library decodes a text once for each entry of a dictionary.
  const stored: SchemaElement = read === sameText ? { ...plain, converted_type: "UTF8" } : plain;
  if (read === null) return { read: (value) => value, stored: element };
  return { read: (value) => (value == null ? value : read(value as never)), stored };
}

/** null: the library reads it exactly. */
function readerOf(element: SchemaElement): Read | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  const kind = logical?.type ?? converted;
  switch (kind) {
    case "DECIMAL":
      return (value: number | bigint | Uint8Array) =>
        decimalOf(value, (logical?.type === "DECIMAL" ? logical.scale : element.scale) ?? 0);
    case "JSON":
      return jsonOf;
    case "DATE":
      return dateText;
    case "TIMESTAMP":
    case "TIMESTAMP_MILLIS":
    case "TIMESTAMP_MICROS":
      return (value: bigint) => timestampText(value * nanosOf(element), zoneOf(element));
    case "TIME":
    case "TIME_MILLIS":
    case "TIME_MICROS":
      return (value: number | bigint) => timeText(BigInt(value) * nanosOf(element));
    case "FLOAT16":
      return (bytes: Uint8Array) => floatOf(float16Of(bytes), nearestFloat16);
    case "UUID":
      return null;
    case "INTERVAL":
    case "BSON":
    case "GEOMETRY":
    case "GEOGRAPHY":
      return () => new ForeignValue(kind);
  }
  if (type === "FLOAT") return (value: number) => floatOf(value, Math.fround);
  if (type === "DOUBLE") return (value: number) => floatOf(value, Number);
  if (type === "INT32" || type === "INT64") return integerReader(element);
  if (type === "BYTE_ARRAY") return sameText;
  if (type === "FIXED_LEN_BYTE_ARRAY") return textOf;
  return null;
}

function sameText(text: string): unknown {
  return text;
}

function textOf(bytes: Uint8Array): unknown {
  return isUtf8(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
    : new ForeignValue("binary, which is not UTF-8 text");
}

function jsonOf(bytes: Uint8Array): unknown {
  const text = textOf(bytes);
  try {
    return typeof text === "string" ? parseExact(text) : text;
  } catch {
    return text;
  }
}

function integerReader({
  type,
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): Read {
  const isUnsigned =
    logical?.type === "INTEGER" ? !logical.isSigned : (converted?.startsWith("UINT") ?? false);
  const bits = type === "INT64" ? 64 : 32;
  return (value: number | bigint) =>
    numberOf(String(isUnsigned ? BigInt.asUintN(bits, BigInt(value)) : value));
}

function decimalOf(value: number | bigint | Uint8Array, scale: number): unknown {
  const unscaled = typeof value === "object" ? signed(value) : BigInt(value);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = scale > 0 ? `${digits.slice(0, point)}.${digits.slice(point)}` : digits;
  return numberOf(unscaled < 0n ? `-${text}` : text);
}

function signed(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes).toString("hex");
  return hex === "" ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`));
}

/**
 * A float as Python prints it: with the fewest digits that give the same float of its size. NaN is pandas' sign of a missing value.
 * @param nearest the float of its size that is nearest to a number.
 */
function floatOf(value: number, nearest: (value: number) => number): unknown {
  if (Number.isNaN(value)) return null;
  if (!Number.isFinite(value)) return new ForeignValue("infinite number");
  let written = value.toExponential();
  for (let digits = 0; digits < 17; digits += 1) {
    const shorter = value.toExponential(digits);
    if (nearest(Number(shorter)) !== value) continue;
    written = shorter;
    break;
  }
  return numberOf(pythonText(Object.is(value, -0) ? "-0e+0" : written));
}

/** @param written by `toExponential`. @example pythonText("1e+0") // "1.0" */
function pythonText(written: string): string {
  const [, sign = "", first = "", rest = "", power = ""] =
    /^(-?)(\d)\.?(\d*)e(.*)$/.exec(written) ?? [];
  const exponent = Number(power);
  const digits = first + rest;
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${first}${rest === "" ? "" : "."}${rest}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function float16Of(bytes: Uint8Array): number {
  const bits = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8);
  const sign = bits >> 15 === 0 ? 1 : -1;
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Ties to even, as the hardware rounds; in float16's range. */
function nearestFloat16(value: number): number {
  const unit = 2 ** Math.max(Math.floor(Math.log2(Math.abs(value))) - 10, -24);
  const scaled = Math.abs(value) / unit;
  const whole = Math.round(scaled);
  const even = scaled % 1 === 0.5 && whole % 2 === 1 ? whole - 1 : whole;
  return Math.sign(value) * even * unit;
}

function nanosOf({ converted_type: converted, logical_type: logical }: SchemaElement): bigint {
  const unit =
    logical?.type === "TIMESTAMP" || logical?.type === "TIME"
      ? logical.unit
      : (converted?.replace(/^.*_/, "") ?? "");
  return unit === "NANOS" ? 1n : unit === "MICROS" ? 1000n : 1_000_000n;
}

/** The instant is exact; the file's metadata may name another zone to show it in. */
function zoneOf({ logical_type: logical }: SchemaElement): string {
  return logical?.type === "TIMESTAMP" && logical.isAdjustedToUTC ? "+00:00" : "";
}

const DAY = 86_400_000_000_000n;
/** Days from 1970 of 0001-01-01 and 9999-12-31. */
const [FIRST_DAY, LAST_DAY] = [-719_162, 2_932_896];

function dateText(day: number): unknown {
  if (day < FIRST_DAY || day > LAST_DAY)
    return new ForeignValue("date outside the years 1 to 9999");
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

function timestampText(nanos: bigint, zone: string): unknown {
  const within = ((nanos % DAY) + DAY) % DAY;
  const date = dateText(Number((nanos - within) / DAY));
  return typeof date === "string" ? `${date} ${timeText(within)}${zone}` : date;
}

/** @param nanos since midnight. */
function timeText(nanos: bigint): string {
  const seconds = Number(nanos / 1_000_000_000n);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
  const rest = String(nanos % 1_000_000_000n).padStart(9, "0");
  if (Number(rest) === 0) return clock;
  return `${clock}.${rest.endsWith("000") ? rest.slice(0, 6) : rest}`;
}
