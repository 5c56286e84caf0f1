import { codePoints } from "./python-text.ts";
import { Dict, Tuple, Undefined, type Value, requireLength, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { repr, str } from "./written.ts";

const PLACE = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?([\s\S]?)/g;

/** `text % values` */
export function percentFormatted(text: string, values: Value): string {
  const items = values instanceof Tuple ? values.items : [values];
  let used = 0;
  const keys = new Set<string>();
  const next = (): Value => {
    const item = items[used];
    used += 1;
    if (item === undefined) throw wrong("not enough arguments for format string");
    return item;
  };
  const formatted = text.replace(
    PLACE,
    (
      _: string,
      key: string | undefined,
      flags: string,
      width: string,
      precision: string | undefined,
      letter: string,
    ) => {
      if (letter === "%") return "%";
      if (width === "*" || precision === "*") throw unsupported("* in a format");
      if (key !== undefined && !(values instanceof Dict)) throw wrong("format requires a mapping");
      if (key !== undefined) keys.add(key);
      const found = key === undefined ? next() : (values as Dict).get(key);
      if (found === undefined) throw wrong(`the format's key "${key}" is missing`);
      const body = converted(found, letter, flags, precision === undefined ? null : Number(precision)); // prettier-ignore
      return padded(body, flags, Number(width), /[dif]/i.test(letter));
    },
  );
  // Python takes a list for a mapping here, too.
  const mapping = values instanceof Dict || Array.isArray(values);
  if (keys.size === 0 && used < items.length && !mapping) throw wrong("not all arguments converted during string formatting"); // prettier-ignore
  return formatted;
}

function padded(body: string, flags: string, width: number, isNumber: boolean): string {
  const missing = width - codePoints(body).length;
  if (missing <= 0) return body;
  requireLength(width);
  if (flags.includes("-")) return body + " ".repeat(missing);
  if (!isNumber || !flags.includes("0")) return " ".repeat(missing) + body;
  const [sign = ""] = /^[-+ ]?/.exec(body) ?? [];
  return sign + "0".repeat(missing) + body.slice(sign.length);
}

function converted(value: Value, letter: string, flags: string, precision: number | null): string {
  if (letter === "s" || letter === "r") {
    const text = letter === "s" ? str(value) : repr(value);
    return precision === null ? text : Array.from(text).slice(0, precision).join("");
  }
  if (value instanceof Undefined) return value.fail();
  const number = typeof value === "boolean" ? BigInt(value) : value;
  if (typeof number !== "bigint" && typeof number !== "number") throw wrong(`%${letter} requires a number, not ${typeName(value)}`); // prettier-ignore
  if (!/[dif]/i.test(letter) || (letter !== "f" && precision !== null)) throw unsupported(`%${letter} in a format`); // prettier-ignore
  if (typeof number === "number" && !Number.isFinite(number)) throw unsupported(`${number} in a format`); // prettier-ignore
  const text = /f/i.test(letter) ? fixed(Number(number), precision ?? 6) : String(typeof number === "bigint" ? number : BigInt(Math.trunc(number))); // prettier-ignore
  if (text.startsWith("-")) return text;
  return `${flags.includes("+") ? "+" : flags.includes(" ") ? " " : ""}${text}`;
}

/** A float with that many decimals: exact, with ties to the even digit, where JavaScript's `toFixed` takes the larger. */
export function fixed(value: number, decimals: number): string {
  if (decimals > 100) throw unsupported("more than 100 decimals");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  // value = mantissa / 2^shift, exactly.
  let mantissa = Math.abs(value);
  let shift = 0n;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    shift += 1n;
  }
  const scaled = BigInt(mantissa) * 10n ** BigInt(decimals);
  const unit = 1n << shift;
  const twice = (scaled % unit) * 2n;
  const floor = scaled / unit;
  const rounded = twice > unit || (twice === unit && floor % 2n === 1n) ? floor + 1n : floor;
  const digits = String(rounded).padStart(decimals + 1, "0");
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
