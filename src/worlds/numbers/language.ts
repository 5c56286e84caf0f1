import { NAME_WORDS } from "../tiny/names.ts";

/** Every sentence of the number world. {p}, {q}: names; {a}, {b}, {c}: numbers; {t}: a thing; {s}, {u}, {v}: things; {e}: an expression. */
export const SENTENCES = {
  has: ["{p} has {a} {s}.", "{p} owns {a} {s}."],
  gain: ["{She} buys {a} more.", "{She} finds {a} more.", "{q} gives {her} {a} more."],
  lose: ["{She} sells {a}.", "{She} loses {a}.", "{She} gives {a} to {q}."],
  gainBoxes: ["{She} buys {a} boxes of {b}.", "{She} finds {a} boxes of {b}."],
  loseBoxes: ["{She} sells {a} boxes of {b}.", "{She} loses {a} boxes of {b}."],
  multiply: ["Now {she} has {a} times as many."],
  keep: ["{She} makes {a} equal heaps and keeps one heap."],
  askNow: ["How many {s} does {she} have now?", "How many {s} does {she} have in the end?"],
  packs: ["{She} packs them in boxes of {a}."],
  askRest: ["How many {s} are left over?"],
  askMissing: ["How many more {s} does {she} need to have {a}?"],
  costs: ["A {t} costs {a} coins.", "The price of a {t} is {a} coins."],
  buysOne: ["{p} buys {a} {s}."],
  buysTwo: ["{p} buys {a} {s} and {b} {u}."],
  buysThree: ["{p} buys {a} {s}, {b} {u} and {c} {v}."],
  discount: ["There is a discount of {a} coins.", "{q} pays {a} coins of the price."],
  pays: ["{She} pays with {a} coins."],
  askPrice: ["How many coins does {she} pay?"],
  askBack: ["How many coins does {she} get back?"],
  friends: ["{a} friends share the price."],
  askEach: ["How many coins does each of them pay?"],
  makes: ["A machine makes {a} {s} an hour.", "In one hour a machine makes {a} {s}."],
  hours: ["It works {a} hours a day.", "Each day it runs for {a} hours."],
  machines: ["There are {a} such machines."],
  broken: ["Each day {a} of them break."],
  askDays: ["How many {s} are there after {a} days?", "How many {s} do {a} days bring?"],
  askBoxes: ["How many boxes of {a} do the {s} of {b} days fill?"],
  travels: ["{p} travels {a} hours at {b} miles an hour."],
  travelsOn: ["Then {she} travels {a} hours at {b} miles an hour."],
  way: ["The whole way is {a} miles long."],
  askMiles: ["How many miles does {she} travel?"],
  askLeft: ["How many miles are left?"],
  askTime: ["How many hours does the rest take at {a} miles an hour?"],
  born: ["{p} was born in {a}."],
  later: ["{p} was born {a} years after {q}."],
  earlier: ["{p} was born {a} years before {q}."],
  older: ["{p} is {a} years older than {q}."],
  askYear: ["In which year was {p} born?"],
  askAge: ["How old was {p} in {a}?"],
  askOlder: ["How many years older is {p} than {q}?"],
  more: ["{p} has {a} more than {q}."],
  fewer: ["{p} has {a} fewer than {q}."],
  timesAsMany: ["{p} has {a} times as many as {q}."],
  askMost: ["How many {s} does the one with the most have?"],
  askGap: ["How many more {s} does the one with the most have than the one with the fewest?"],
  askTogether: ["How many {s} do they have together?"],
  askShare: ["How many {s} does each get if they share equally?"],
  expression: ["What is {e}?", "Compute {e}.", "Find the value of {e}."],
} as const satisfies Record<string, readonly string[]>;

export type SentenceName = keyof typeof SENTENCES;

/** What the problems count. */
export const THINGS = [
  "lamp",
  "rope",
  "cup",
  "book",
  "bell",
  "ring",
  "card",
  "seed",
  "stamp",
  "drum",
  "kite",
  "nail",
] as const;

/** What a step computes, in words. */
export const ASKS = {
  now: "how many now",
  boxes: "how many in the boxes",
  changes: "both changes together",
  rest: "how many left over",
  missing: "how many to get",
  price: "price of one kind",
  set: "price of one of each",
  total: "whole price",
  reduced: "price after the discount",
  back: "coins back",
  each: "share of each",
  day: "how many a day",
  made: "how many in all",
  factor: "both factors together",
  full: "full boxes",
  miles: "miles of one part",
  way: "miles in all",
  left: "miles left",
  time: "hours left",
  year: "year of birth",
  age: "age",
  years: "years between them",
  owned: "how many of one person",
  most: "the most",
  fewest: "the fewest",
  gap: "the difference",
  together: "how many together",
  value: "value of this part",
} as const;

/** Texts around the steps of a written solution. */
export const THOUGHTS = {
  verify: "Check:",
  agrees: "Right.",
  differs: "No, it is {value}.",
  wander: "Maybe {step} helps. It does not.",
  wait: "Wait.",
  call: "I compute {expression}.",
  result: "So it is {value}.",
  revise: "Wait, I think it is {value}.",
  guess: "One number is not given.",
  answer: "The answer is {value}.",
} as const;

/** Fills a template's slots. */
export function filled(template: string, slots: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => String(slots[slot] ?? ""));
}

/** Pronouns of a person, by the first name. */
export function pronouns(name: string): { she: string; She: string; her: string } {
  return /^\w+a /.test(name)
    ? { she: "she", She: "She", her: "her" }
    : { she: "he", She: "He", her: "him" };
}

/** What stands for a number that an impossible problem does not tell, in a sentence and in an expression. */
export const HIDDEN = { sentence: "some", expression: "x" } as const;

/** Words and signs of problems, steps and written solutions, without digits. */
export function languageWords(): string[] {
  const templates: string[] = [
    ...Object.values(SENTENCES).flat(),
    ...Object.values(ASKS),
    ...Object.values(THOUGHTS),
  ];
  const words = templates.flatMap(
    (template) => template.replaceAll(/\{\w+\}/g, " ").match(/[A-Za-z]+|[^\sA-Za-z]/g) ?? [],
  );
  const people = ["a ", " "].flatMap((name) => Object.values(pronouns(`X${name}`)));
  const things = THINGS.flatMap((thing) => [thing, `${thing}s`]);
  return [...new Set([...words, ...people, ...things, ...Object.values(HIDDEN), ...NAME_WORDS])];
}
