/** One side of a comparison: `factor` · metric of an arm + `plus`; without an arm, the number `plus`. */
export interface RelationSide {
  /** As it is shown. */
  text: string;
  arm: string | null;
  /** Where it is not the claim's own. */
  metric: string | null;
  factor: number;
  plus: number;
}

export type RelationSign = ">" | ">=" | "<" | "<=" | "=";

/** A comparison of a claim's relation. */
export interface RelationPart {
  left: RelationSide;
  relation: RelationSign;
  right: RelationSide;
}

const NUMBER = String.raw`\d+\.?\d*|\.\d+`;
const ARM = "[a-z][a-z0-9-]*";
const CONSTANT = new RegExp(`^-?(?:${NUMBER})$`);
const SIDE = new RegExp(
  `^(?:(?<factor>${NUMBER})\\s*\\*\\s*)?` +
    `(?:(?<metric>\\S.*)\\((?<of>${ARM})\\)|(?<arm>${ARM}))` +
    `(?:\\s*(?<sign>(?<!\\S)[+-]|\\+)\\s*(?<plus>${NUMBER}))?$`,
);

/**
 * Reads a relation: arms and numbers joined by >, >=, <, <= or =. A side may have a factor, a margin and a metric of its own:
 * `0.7 * eval.after.completion_tokens(plain)`, `plain - 0.02`. A minus needs a space before it, because arms hold hyphens.
 *
 * @param fail called with the rest of a sentence that begins with the relation's place.
 * @example parseRelation("a > b >= 0.2", fail) // a > b and b >= 0.2
 */
export function parseRelation(text: string, fail: (sentence: string) => Error): RelationPart[] {
  const pieces = text.split(/\s*(>=|<=|>|<|=)\s*/);
  if (pieces.length < 3) {
    throw fail(
      `is "${text}": expected arms or numbers joined by >, >=, <, <= or =, e.g. "a > b" or "a >= b - 0.02".`,
    );
  }
  const sides = pieces.filter((_, i) => i % 2 === 0).map((piece) => side(piece, text, fail));
  return sides.slice(1).map((right, i): RelationPart => {
    const left = sides[i] ?? right;
    return { left, relation: pieces[2 * i + 1] as RelationSign, right };
  });
}

function side(piece: string, text: string, fail: (sentence: string) => Error): RelationSide {
  const trimmed = piece.trim();
  if (CONSTANT.test(trimmed))
    return { text: trimmed, arm: null, metric: null, factor: 1, plus: Number(trimmed) };
  const found = SIDE.exec(trimmed)?.groups;
  if (found === undefined) {
    throw fail(
      `is "${text}", and "${trimmed}" is no side of a comparison: expected a number, an arm, or 0.7 * METRIC(arm) + 0.02, of which all but the arm may be left out.`,
    );
  }
  const { factor, metric, of, arm, sign, plus } = found as Record<string, string | undefined>;
  const scale = Number(factor ?? 1);
  if (scale === 0) throw fail(`is "${text}", and "${trimmed}" has the factor 0.`);
  return {
    text: trimmed.replaceAll(/\s+/g, " "),
    arm: of ?? arm ?? "",
    metric: metric ?? null,
    factor: scale,
    plus: Number(plus ?? 0) * (sign === "-" ? -1 : 1),
  };
}
