import type { ErrorCode } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { END_REASONS } from "../../trajectory/trajectory.ts";
import { FACTS, type ScoringTime } from "./facts.ts";
import { FUNCTIONS, type LeafValues, type Term, numberOf } from "./functions.ts";
import { type InfixSign, type Node, parseExpression, problemAt } from "./parse.ts";

/** How values of rewards become the combined reward of a trajectory: the recipe's `reward:`. docs/rewards.md */
export interface RewardExpression {
  readonly text: string;
  /**
   * The combined reward of each trajectory of a batch; null where it needs a value that is unknown, or where it is not a finite number.
   * A trajectory that ended in an error has none, and is left out of groups and batches.
   */
  combine(batch: readonly LeafValues[], time: ScoringTime): (number | null)[];
  /** For each trajectory, whether combining the batch looks at its value of this reward: `em or judge` does so where em is 0. */
  reads(leaf: string, batch: readonly LeafValues[], time: ScoringTime): boolean[];
}

/**
 * Reads the recipe's `reward:` and checks it: every name is known, and text is only compared.
 *
 * @param leaves names of the `rewards:` entries.
 * @throws {ConfigError} RECIPE_BAD_VALUE, PART_UNKNOWN with the column; the sentence follows the key that holds the expression.
 * @example rewardExpression("em + 0.2 * (format and not em)", ["em", "format"])
 */
export function rewardExpression(text: string, leaves: readonly string[]): RewardExpression {
  const fail: Fail = (at, problem, code) => {
    throw problemAt(text, at, problem, code);
  };
  for (const [i, name] of leaves.entries()) {
    if (leaves.indexOf(name) < i) fail(1, `two rewards are called "${name}"; rename one by as`);
    if (RESERVED.has(name)) {
      fail(1, `a reward is called "${name}", which means something else here; rename it by as`);
    }
  }
  const whole = numeric(parseExpression(text), { leaves, fail });
  const combine: RewardExpression["combine"] = (batch, time) => {
    const scored = batch.filter(({ trajectory }) => trajectory.error === undefined);
    const setting = { batch: scored, time, figures: new Map() };
    return batch.map((row) => {
      if (row.trajectory.error !== undefined) return null;
      const value = numberOf(whole, row, setting);
      return value !== null && Number.isFinite(value) ? value : null;
    });
  };
  return {
    text,
    combine,
    reads(leaf, batch, time) {
      const isRead = batch.map(() => false);
      const watched = batch.map(({ trajectory, values }, i): LeafValues => {
        const get = (name: string): number | null | undefined => {
          if (name === leaf) isRead[i] = true;
          return values.get(name);
        };
        return { trajectory, values: { get } };
      });
      combine(watched, time);
      return isRead;
    },
  };
}

/** Words that no reward's name or alias may be; `expression` names the value of the whole in records. */
const RESERVED = new Set([
  ...Object.keys(FACTS),
  ...Object.keys(FUNCTIONS),
  ...["and", "or", "not", "expression"],
]);

type Fail = (at: number, problem: string, code?: ErrorCode) => never;

interface Checking {
  leaves: readonly string[];
  fail: Fail;
}

/** A term that must be a number; true is 1 and false is 0. */
function numeric(node: Node, checking: Checking): Term {
  return requireNumber(termOf(node, checking), node, checking);
}

function requireNumber(term: Term, node: Node, { fail }: Checking): Term {
  if (term.type === "number") return term;
  const shown = node.kind === "name" ? node.name : "this";
  return fail(node.at, `${shown} is text, which can only be compared: end == "answered"`);
}

function termOf(node: Node, checking: Checking): Term {
  switch (node.kind) {
    case "number":
    case "text":
      return { type: node.kind, of: () => node.value };
    case "name":
      return named(node, checking);
    case "prefix":
      return prefixed(node, checking);
    case "infix":
      return joined(node, checking);
    case "call":
      return called(node, checking);
  }
}

function named({ name, at }: Extract<Node, { kind: "name" }>, { leaves, fail }: Checking): Term {
  if (leaves.includes(name)) {
    return { type: "number", leaf: name, of: ({ values }) => values.get(name) ?? null };
  }
  const fact = FACTS[name];
  if (fact !== undefined) {
    return { type: fact.type, of: ({ trajectory }, { time }) => fact.of(trajectory, time) };
  }
  if (Object.hasOwn(FUNCTIONS, name)) fail(at, `${name} is a function: write ${name}(…)`);
  const minus = name.includes("-") ? ` If it is a difference, put spaces around the minus.` : "";
  const known = nearestOf(name, [...leaves, ...Object.keys(FACTS)]);
  return fail(at, `no reward or fact is called "${name}".${minus} ${known}`, "PART_UNKNOWN");
}

function prefixed({ sign, of }: Extract<Node, { kind: "prefix" }>, checking: Checking): Term {
  const term = numeric(of, checking);
  const change = sign === "-" ? (value: number) => -value : (value: number) => Number(value === 0);
  return {
    type: "number",
    of(row, setting) {
      const value = numberOf(term, row, setting);
      return value === null ? null : change(value);
    },
  };
}

function joined(node: Extract<Node, { kind: "infix" }>, checking: Checking): Term {
  const { sign, left, right } = node;
  const first = termOf(left, checking);
  const second = termOf(right, checking);
  const isText = first.type === "text" || second.type === "text";
  if (isText && (sign === "==" || sign === "!="))
    return comparedTexts(node, first, second, checking);
  requireNumber(first, left, checking);
  requireNumber(second, right, checking);
  return {
    type: "number",
    of(row, setting) {
      const a = numberOf(first, row, setting);
      if (a === null) return null;
      // The right side is not looked at where the left one decides: known(x) and x > 0.
      if (sign === "and" && a === 0) return 0;
      if (sign === "or" && a !== 0) return 1;
      const b = numberOf(second, row, setting);
      return b === null ? null : JOINED[sign](a, b);
    },
  };
}

const JOINED: Readonly<Record<InfixSign, (a: number, b: number) => number>> = {
  or: (_, b) => Number(b !== 0),
  and: (_, b) => Number(b !== 0),
  "==": (a, b) => Number(a === b),
  "!=": (a, b) => Number(a !== b),
  "<": (a, b) => Number(a < b),
  "<=": (a, b) => Number(a <= b),
  ">": (a, b) => Number(a > b),
  ">=": (a, b) => Number(a >= b),
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "^": (a, b) => a ** b,
};

/** `end == "answered"` */
function comparedTexts(
  { sign, left, right, at }: Extract<Node, { kind: "infix" }>,
  first: Term,
  second: Term,
  checking: Checking,
): Term {
  if (first.type !== second.type) checking.fail(at, `"${sign}" compares text with a number`);
  requireEnd(left, right, checking);
  requireEnd(right, left, checking);
  return {
    type: "number",
    of(row, setting) {
      const a = first.of(row, setting);
      const b = second.of(row, setting);
      return a === null || b === null ? null : Number((a === b) === (sign === "=="));
    },
  };
}

/** Text that `end` is compared with must be a way to end. */
function requireEnd(name: Node, text: Node, { fail }: Checking): void {
  if (name.kind !== "name" || name.name !== "end" || text.kind !== "text") return;
  const { value, at } = text;
  if (END_REASONS.some((end) => end === value)) return;
  fail(at, `no trajectory ends as "${value}". ${nearestOf(value, END_REASONS)}`, "PART_UNKNOWN");
}

function called({ name, given, at }: Extract<Node, { kind: "call" }>, checking: Checking): Term {
  const { leaves, fail } = checking;
  const { takes, of } = (Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined) ??
    fail(at, `no function is called "${name}". ${nearestOf(name, Object.keys(FUNCTIONS))}`, "PART_UNKNOWN"); // prettier-ignore
  const [fewest, most] = takes;
  if (given.length < fewest || given.length > most) {
    const count = `${fewest === most ? "" : "at least "}${fewest}`;
    fail(at, `${name} takes ${count} ${fewest === 1 ? "argument" : "arguments"}; found ${given.length}`); // prettier-ignore
  }
  if (name === "if" && given.length % 2 === 0) {
    fail(at, "if needs a last value for when no condition holds: if(condition, value, otherwise)");
  }
  // known(status) asks about text.
  const terms = given.map((each) => (name === "known" ? termOf : numeric)(each, checking));
  if (name === "last_mean" && terms[0]?.leaf === undefined) {
    fail(at, `last_mean takes the name of a reward: ${leaves.join(", ")}`);
  }
  return { type: "number", of: (row, setting) => of(terms, row, setting) };
}

function nearestOf(name: string, known: readonly string[]): string {
  return suggest(name, known).replace(/\.$/, "");
}
