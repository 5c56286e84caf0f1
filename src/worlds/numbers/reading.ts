import { HIDDEN, SENTENCES, type SentenceName, THINGS } from "./language.ts";
import type { KindName } from "./problems.ts";
import { readExpression } from "./read-expression.ts";

/** What a problem's text says. */
export interface ProblemReading {
  kind: KindName;
  /** NaN: the text does not tell a number on which it depends. */
  answer: number;
  /** Persons whose things are told. */
  owners: number;
}

/** A sentence's slots: numbers, of which one that is not told is NaN, and the other words. */
interface Slots {
  number: (slot: "a" | "b" | "c") => number;
  word: (slot: "p" | "q" | "t" | "s" | "u" | "v" | "e") => string;
}

interface Told {
  /** A running amount: things, coins, miles. */
  now: number;
  /** A number that only the question uses: boxes, coins paid, friends, the length of a way. */
  other: number;
  owned: Map<string, number>;
  prices: Map<string, number>;
  births: Map<string, number>;
  kind: KindName | null;
  answer: number;
}

const NAME = "[A-Z][a-z]+(?: [A-Z][a-z]+){1,2}";
const NUMBER = `\\d+|${HIDDEN.sentence}`;
const THING = THINGS.join("|");
const SLOTS: Readonly<Record<string, string>> = {
  a: NUMBER,
  b: NUMBER,
  c: NUMBER,
  p: NAME,
  q: NAME,
  t: THING,
  s: `(?:${THING})s`,
  u: `(?:${THING})s`,
  v: `(?:${THING})s`,
  e: ".+",
  She: "He|She",
  she: "he|she",
  her: "him|her",
};

const PATTERNS = (Object.keys(SENTENCES) as SentenceName[]).map((name) => ({
  name,
  patterns: SENTENCES[name].map((template) => {
    const source = template
      .replaceAll(/[.?]/g, "\\$&")
      .replaceAll(/\{(\w+)\}/g, (_, slot: string) => `(?<${slot}>${SLOTS[slot] ?? ""})`);
    return new RegExp(`^${source}$`);
  }),
}));

/** Reads a problem from its text alone; a message when a sentence has no meaning, or two, or nothing is asked. */
export function readProblem(text: string): ProblemReading | string {
  const told: Told = {
    now: NaN,
    other: NaN,
    kind: null,
    answer: NaN,
    owned: new Map(),
    prices: new Map(),
    births: new Map(),
  };
  for (const sentence of text.split(/(?<=[.?]) /)) {
    const found = readSentence(sentence);
    if (typeof found === "string") return found;
    if (told.kind !== null) return `"${sentence}" follows the question`;
    const problem = MEANINGS[found.name](told, found.slots);
    if (typeof problem === "string") return `"${sentence}": ${problem}`;
  }
  if (told.kind === null) return "nothing is asked";
  return { kind: told.kind, answer: told.answer, owners: told.owned.size };
}

function readSentence(sentence: string): { name: SentenceName; slots: Slots } | string {
  const found = PATTERNS.flatMap(({ name, patterns }) =>
    patterns.flatMap((pattern) => {
      const match = pattern.exec(sentence);
      return match === null ? [] : [{ name, groups: match.groups ?? {} }];
    }),
  );
  const [first, second] = found;
  if (first === undefined) return `"${sentence}" cannot be read`;
  if (second !== undefined) return `"${sentence}" can be read as ${first.name} and ${second.name}`;
  const { name, groups } = first;
  return {
    name,
    slots: { number: (slot) => Number(groups[slot]), word: (slot) => groups[slot] ?? "" },
  };
}

type Meaning = (told: Told, slots: Slots) => string | undefined;

function change(how: (now: number, number: Slots["number"]) => number): Meaning {
  return (told, { number }) => {
    told.now = how(told.now, number);
  };
}

function ask(kind: KindName, answer: (told: Told, slots: Slots) => number): Meaning {
  return (told, slots) => {
    told.kind = kind;
    told.answer = answer(told, slots);
  };
}

const other: Meaning = (told, { number }) => {
  told.other = number("a");
};

function relative(how: (value: number, by: number) => number): Meaning {
  return ({ owned }, { word, number }) => {
    const base = owned.get(word("q"));
    if (base === undefined) return `nothing is told of ${word("q")}`;
    owned.set(word("p"), how(base, number("a")));
  };
}

function purchase(
  ...pairs: (readonly [count: "a" | "b" | "c", things: "s" | "u" | "v"])[]
): Meaning {
  return (told, { number, word }) => {
    const costs = pairs.map(([count, things]) => {
      const price = told.prices.get(word(things).slice(0, -1));
      return price === undefined ? null : number(count) * price;
    });
    if (costs.includes(null) || told.prices.size !== pairs.length)
      return "a price is missing or too many";
    told.now = costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  };
}

function birth(how: (year: number, by: number) => number): Meaning {
  return ({ births }, { word, number }) => {
    const year = births.get(word("q"));
    if (year === undefined || births.has(word("p")))
      return "one of the two years must be told before";
    births.set(word("p"), how(year, number("a")));
  };
}

const of = (map: ReadonlyMap<string, number>, key: string): number => map.get(key) ?? NaN;
const sum = (values: Iterable<number>): number =>
  [...values].reduce((total, each) => total + each, 0);

const MEANINGS: Record<SentenceName, Meaning> = {
  has: (told, { word, number }) => {
    told.owned.set(word("p"), number("a"));
    told.now = number("a");
  },
  gain: change((now, number) => now + number("a")),
  lose: change((now, number) => now - number("a")),
  gainBoxes: change((now, number) => now + number("a") * number("b")),
  loseBoxes: change((now, number) => now - number("a") * number("b")),
  multiply: change((now, number) => now * number("a")),
  keep: change((now, number) => now / number("a")),
  askNow: ask("stock", ({ now }) => now),
  packs: other,
  askRest: ask("stock", (told) => told.now - told.other * Math.floor(told.now / told.other)),
  askMissing: ask("stock", ({ now }, { number }) => number("a") - now),
  costs: ({ prices }, { word, number }) => {
    prices.set(word("t"), number("a"));
  },
  buysOne: purchase(["a", "s"]),
  buysTwo: purchase(["a", "s"], ["b", "u"]),
  buysThree: purchase(["a", "s"], ["b", "u"], ["c", "v"]),
  discount: change((now, number) => now - number("a")),
  pays: other,
  askPrice: ask("shop", ({ now }) => now),
  askBack: ask("shop", (told) => told.other - told.now),
  friends: other,
  askEach: ask("shop", (told) => told.now / told.other),
  makes: change((_, number) => number("a")),
  hours: change((now, number) => now * number("a")),
  machines: change((now, number) => now * number("a")),
  broken: change((now, number) => now - number("a")),
  askDays: ask("rate", ({ now }, { number }) => now * number("a")),
  askBoxes: ask("rate", ({ now }, { number }) => (now * number("b")) / number("a")),
  travels: change((_, number) => number("a") * number("b")),
  travelsOn: change((now, number) => now + number("a") * number("b")),
  way: other,
  askMiles: ask("travel", ({ now }) => now),
  askLeft: ask("travel", (told) => told.other - told.now),
  askTime: ask("travel", (told, { number }) => (told.other - told.now) / number("a")),
  born: ({ births }, { word, number }) => {
    births.set(word("p"), number("a"));
  },
  later: birth((year, by) => year + by),
  earlier: birth((year, by) => year - by),
  older: ({ births }, { word, number }) => {
    const [p, q, by] = [word("p"), word("q"), number("a")];
    if (births.has(p) === births.has(q)) return "one of the two years must be told before";
    if (births.has(p)) births.set(q, of(births, p) + by);
    else births.set(p, of(births, q) - by);
  },
  askYear: ask("years", ({ births }, { word }) => of(births, word("p"))),
  askAge: ask("years", ({ births }, { word, number }) => number("a") - of(births, word("p"))),
  askOlder: ask("years", ({ births }, { word }) => of(births, word("q")) - of(births, word("p"))),
  more: relative((value, by) => value + by),
  fewer: relative((value, by) => value - by),
  timesAsMany: relative((value, by) => value * by),
  askMost: ask("comparison", ({ owned }) => Math.max(...owned.values())),
  askGap: ask(
    "comparison",
    ({ owned }) => Math.max(...owned.values()) - Math.min(...owned.values()),
  ),
  askTogether: ask("comparison", ({ owned }) => sum(owned.values())),
  askShare: ask("comparison", ({ owned }) => sum(owned.values()) / owned.size),
  expression: (told, { word }) => {
    const value = readExpression(word("e"));
    if (value === null) return "the expression cannot be read";
    told.kind = "expression";
    told.answer = value;
  },
};
