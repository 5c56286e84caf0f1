import { dictOf } from "./attributes.ts";
import { argumentsOf, integerOf, textOf } from "./parameters.ts";
import { Callable, Dict, type Given, Members, Range, TemplateFault, type Value, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { str } from "./written.ts";

/** What every template can call, as transformers sets it up. @param now the time of `strftime_now`; absent: there is no such function. */
export function globalNames(now: Date | undefined): Map<string, Value> {
  const functions: Record<string, (given: Given) => Value> = {
    range,
    dict: (given) => dictFrom("dict", given),
    namespace: (given) => namespace(dictFrom("namespace", given)),
    raise_exception: (given) => {
      const [message = null] = argumentsOf("raise_exception", ["message"], 1, given);
      throw new TemplateFault("refused", str(message));
    },
    ...Object.fromEntries(["lipsum", "cycler", "joiner", "self"].map((name) => [name, () => { throw unsupported(`the name ${name}`); }])), // prettier-ignore
  };
  if (now !== undefined)
    functions["strftime_now"] = (given) => {
      const [format = null] = argumentsOf("strftime_now", ["format"], 1, given);
      return strftime(now, textOf(format, "strftime_now"));
    };
  return new Map(Object.entries(functions).map(([name, call]) => [name, new Callable(name, call)]));
}

/** jinja2's sandbox allows no longer range. */
const LONGEST_RANGE = 100_000;

function range(given: Given): Range {
  const [first = null, end, by = 1n] = argumentsOf("range", ["/start", "/stop", "/step"], 1, given);
  const [start, stop] = end === undefined ? [0, integerOf(first, "range")] : [integerOf(first, "range"), integerOf(end, "range")]; // prettier-ignore
  const step = integerOf(by, "range");
  if (step === 0) throw wrong("range() arg 3 must not be zero");
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > LONGEST_RANGE) throw wrong(`a range of more than ${LONGEST_RANGE} items`);
  const items = Array.from({ length }, (_, i) => BigInt(start + i * step));
  return new Range(items, `range(${start}, ${stop}${step === 1 ? "" : `, ${step}`})`);
}

function dictFrom(callee: string, { positional, named }: Given): Dict {
  const [source = new Dict()] = argumentsOf(callee, ["/source"], 0, {
    positional,
    named: new Map(),
  });
  const dict = dictOf(source);
  for (const [name, value] of named) dict.set(name, value);
  return dict;
}

function namespace(names: Dict): Members {
  const set = (name: Value, value: Value): void => {
    if (typeof name !== "string") throw unsupported("a namespace with a key that is no text");
    if (name.startsWith("_")) throw wrong(`a namespace takes no name that begins with _, such as ${name}`); // prettier-ignore
    names.set(name, value);
  };
  for (const [name, value] of names.pairs()) set(name, value);
  return new Members("Namespace", { get: (name) => names.get(name), set });
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/** A date by C's format letters, in UTC and English; `-` before a letter removes leading zeros. @throws unsupported for other letters. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([\s\S]?)/g, (whole, bare: string, letter: string) => {
    const text = parts(date)[letter];
    if (text === undefined) throw unsupported(`${whole} in a date`);
    return bare === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

function parts(date: Date): Partial<Record<string, string>> {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = DAYS[date.getUTCDay()] ?? "";
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const hours = date.getUTCHours();
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  const [m, d, y] = [two(date.getUTCMonth() + 1), two(date.getUTCDate()), two(date.getUTCFullYear() % 100)]; // prettier-ignore
  const [H, M, S] = [two(hours), two(date.getUTCMinutes()), two(date.getUTCSeconds())];
  const Y = String(date.getUTCFullYear());
  return {
    a: day.slice(0, 3),
    A: day,
    b: month.slice(0, 3),
    h: month.slice(0, 3),
    B: month,
    "%": "%",
    n: "\n",
    t: "\t",
    d,
    e: String(date.getUTCDate()).padStart(2, " "),
    m,
    y,
    Y,
    H,
    I: two(hours % 12 === 0 ? 12 : hours % 12),
    M,
    S,
    p: hours < 12 ? "AM" : "PM",
    D: `${m}/${d}/${y}`,
    F: `${Y}-${m}-${d}`,
    R: `${H}:${M}`,
    T: `${H}:${M}:${S}`,
    w: String(date.getUTCDay()),
    f: String(date.getUTCMilliseconds() * 1000).padStart(6, "0"),
    j: String(Math.floor((date.getTime() - newYear) / 86_400_000) + 1).padStart(3, "0"),
  };
}
