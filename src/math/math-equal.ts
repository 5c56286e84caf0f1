import { type Comparison, equalExpressions, ratioOf } from "./compare-expressions.ts";
import { MATH_LIMITS, loadMathjs } from "./evaluate.ts";
import { type MathRelation, type MathSequence, type MathValue, readMath } from "./values.ts";

/**
 * Whether two answers are mathematically equal: numbers, expressions, equations, sets, lists, tuples, intervals, matrices, words.
 *
 * Expressions are equal if their values are, at five seeded points: exactly while they stay rational, else to 1e-9 of their size.
 * A text that is no mathematics is compared by its words. It never throws for a text, and `MATH_LIMITS` bounds its work.
 *
 * @example await mathEqual("0.5", "\\frac{1}{2}") // true
 * @example await mathEqual("(2,1)", "(1,2)") // false
 */
export async function mathEqual(prediction: string, reference: string): Promise<boolean> {
  return (await compareMath(prediction, reference)).isEqual;
}

/** As `mathEqual`, with the operations that the comparison took. */
export async function compareMath(
  prediction: string,
  reference: string,
): Promise<{ isEqual: boolean; operations: number }> {
  const work = { operations: 0 };
  if (plain(prediction) === plain(reference)) return { isEqual: true, ...work };
  if (Math.max(prediction.length, reference.length) > MATH_LIMITS.characters)
    return { isEqual: false, ...work };
  const [left, right] = [readMath(prediction), readMath(reference)];
  if (left.kind === "words" || right.kind === "words")
    return { isEqual: areSameWords(left, right), ...work };
  const isEqual = equalValues(left, right, { math: await loadMathjs(), work });
  return { isEqual, ...work };
}

function equalValues(left: MathValue, right: MathValue, context: Comparison): boolean {
  if (left.kind === "words" || right.kind === "words") return areSameWords(left, right);
  if (left.kind === "relation" && right.kind === "relation")
    return equalRelations(left, right, context);
  // "x = 5" answers "5".
  if (left.kind === "relation") return left.isAssignment && equalValues(left.right, right, context);
  if (right.kind === "relation") return equalValues(right, left, context);
  if (left.kind === "sequence") return equalSequences(left, right, context);
  if (right.kind === "sequence") return isOnly(left, right, context);
  if (equalExpressions(left.text, right.text, context)) return true;
  if (left.isPercent === right.isPercent) return false;
  // 50% is 0.5, and answers "how many per cent?" as 50.
  const [percent, share] = left.isPercent ? [left, right] : [right, left];
  return equalExpressions(`(${percent.text}) / 100`, share.text, context);
}

function areSameWords(left: MathValue, right: MathValue): boolean {
  const areWords = left.kind === "words" && right.kind === "words";
  return areWords && left.text === right.text && left.text !== "";
}

const ORDERED = ["()", "[]", "[)", "(]", "matrix", "row"];

function equalSequences(left: MathSequence, right: MathValue, context: Comparison): boolean {
  if (right.kind !== "sequence") return isOnly(right, left, context);
  // "1, 2" answers {1, 2} and (1, 2), but no interval.
  const isList = left.brackets === "list" || right.brackets === "list";
  const brackets = left.brackets === "list" ? right.brackets : left.brackets;
  if (left.brackets !== right.brackets && !(isList && /^(?:\(\)|\{\})$/.test(brackets)))
    return false;
  const isSet = brackets === "{}" && !isList;
  if (!isSet && left.items.length !== right.items.length) return false;
  if (ORDERED.includes(brackets))
    return left.items.every((item, i) => equalValues(item, right.items[i] ?? item, context));
  const isIn = (item: MathValue, { items }: MathSequence): boolean =>
    items.some((each) => equalValues(item, each, context));
  return (
    left.items.every((each) => isIn(each, right)) && right.items.every((each) => isIn(each, left))
  );
}

/** "x ∈ {3}" answers "3". */
function isOnly(one: MathValue, { brackets, items }: MathSequence, context: Comparison): boolean {
  const [item] = items;
  return (
    brackets === "{}" && items.length === 1 && item !== undefined && equalValues(item, one, context)
  );
}

/** Equations are equal if one is a multiple of the other; inequalities, if it is a positive multiple. */
function equalRelations(left: MathRelation, right: MathRelation, context: Comparison): boolean {
  if (left.sign !== right.sign) return false;
  const [first, second] = [differenceOf(left), differenceOf(right)];
  if (first === null || second === null)
    return (
      equalValues(left.left, right.left, context) && equalValues(left.right, right.right, context)
    );
  const ratio = ratioOf(first, second, context);
  return ratio !== null && (ratio > 0 || left.sign === "=" || left.sign === "!=");
}

function differenceOf({ left, right }: MathRelation): string | null {
  const areExpressions = left.kind === "expression" && right.kind === "expression";
  return areExpressions ? `(${left.text}) - (${right.text})` : null;
}

/** So that equal texts need no mathjs. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
