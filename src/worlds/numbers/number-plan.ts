import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { filled, THOUGHTS } from "./language.ts";
import { applied, expressionOf, type Operation, OPERATIONS, partsOf } from "./quantities.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";

const share = z.number().min(0).max(1);

/** Probabilities of what the teacher number-plan does; the defaults give the plain solution. */
export const numberBehaviourSchema = z.strictObject({
  /** That a result is wrong: of any operation, or of each (+ - * / % max min). Later steps use the wrong result. */
  slip: z.union([share, z.partialRecord(z.enum(OPERATIONS), share)]).default(0),
  /** To compute a step again; the second result, which may be wrong too, counts. */
  verify: share.default(0),
  /** To compute something needless before a step. */
  wander: share.default(0),
  /** To write "Wait." before a step. */
  wait: share.default(0),
  /** To change the right or wrong answer to another at the end. */
  revise: share.default(0),
  /** To answer in the protocol's way, instead of in plain words. */
  box: share.default(1),
  /** To put other words or signs around an answer in the protocol's way: "The answer is 65.", "65."; absent: 0. */
  reword: share.optional(),
  /** To offer two values in place of an answer: its own and a wrong result near it, "65 or 66"; absent: 0. */
  hedge: share.optional(),
  /** To call the environment's calculator for a step, where there is one. */
  call: share.default(0),
  /** To solve the problem in another way than the plain one, where it has one. */
  otherRoute: share.default(0),
});

export type NumberBehaviour = z.output<typeof numberBehaviourSchema>;

/** The teacher's next message. */
export interface NumberMessage {
  /** What it writes first, sentence by sentence. */
  lines: string[];
  /** An expression for the calculator; null: it answers. */
  call: string | null;
  answer: string;
}

type NumberPlace = { task: Task; results: readonly string[]; canCall: boolean };

/** Operations that a calculator has; the others are computed in the head. */
const CALLABLE: readonly Operation[] = ["+", "-", "*", "/"];

/**
 * The part of a written solution after the last call: short steps ("48 + 17 = 65."), up to the next call or the answer. Equal random
 * streams give the same solution, whose calls are replaced by their results. @returns null when the task has no solution to follow.
 */
export function numberPlan(
  { task, results, canCall }: NumberPlace,
  behaviour: NumberBehaviour,
  draw: Random,
): NumberMessage | null {
  const steps = routeOf(task, behaviour.otherRoute, draw);
  const numbers = task.question.match(/\d+/g) ?? [];
  if (steps === null) {
    if (task.annotations.concepts === undefined || numbers.length === 0) return null;
    return { lines: [THOUGHTS.guess], call: null, answer: draw.pick(numbers) };
  }
  const values: string[] = [];
  let lines: string[] = [];
  let calls = 0;
  for (const { expression = "" } of steps) {
    const filledIn = expression.replaceAll(
      /#(\d+)/g,
      (_, n: string) => values[Number(n) - 1] ?? "",
    );
    const parts = partsOf(filledIn);
    if (parts === null) return null;
    if (draw.next() < behaviour.wander) lines.push(wandering(numbers, draw));
    if (draw.next() < behaviour.wait) lines.push(THOUGHTS.wait);
    const isCalled = CALLABLE.includes(parts.operation) && draw.next() < behaviour.call;
    const result = results[calls];
    if (isCalled && result !== undefined) {
      calls += 1;
      lines = [filled(THOUGHTS.result, { value: result })];
      values.push(result);
      continue;
    }
    if (isCalled && canCall) {
      lines.push(filled(THOUGHTS.call, { expression: filledIn }));
      return { lines, call: filledIn, answer: "" };
    }
    values.push(computed(filledIn, parts, { behaviour, draw, lines }));
  }
  const answer = values.at(-1) ?? "";
  if (draw.next() >= behaviour.revise) return { lines, call: null, answer };
  const other = slipped(Number(answer), draw);
  return {
    lines: [...lines, filled(THOUGHTS.revise, { value: other })],
    call: null,
    answer: other,
  };
}

function routeOf(
  { annotations: { decomposition, routes = [] } }: Task,
  other: number,
  draw: Random,
): readonly SolutionStep[] | null {
  const isOther = draw.next() < other && routes.length > 0;
  return (isOther ? draw.pick(routes) : decomposition) ?? null;
}

type Writing = { behaviour: NumberBehaviour; draw: Random; lines: string[] };

function computed(
  expression: string,
  { operation, operands }: { operation: Operation; operands: string[] },
  { behaviour, draw, lines }: Writing,
): string {
  const { slip } = behaviour;
  const rate = typeof slip === "number" ? slip : (slip[operation] ?? 0);
  const exact = applied(operation, operands.map(Number));
  // An earlier slip can make a divisor 0.
  const right = Number.isFinite(exact) ? exact : 0;
  const result = (): string => (draw.next() < rate ? slipped(right, draw) : shown(right));
  const first = result();
  lines.push(`${expression} = ${first}.`);
  if (draw.next() >= behaviour.verify) return first;
  const second = result();
  const verdict = second === first ? THOUGHTS.agrees : filled(THOUGHTS.differs, { value: second });
  lines.push(`${THOUGHTS.verify} ${expression} = ${second}.`, verdict);
  return second;
}

/** The answer as it is written: as it is, among other words or signs, or beside another value. */
export function wordedAnswer(
  answer: string,
  { reword = 0, hedge = 0 }: NumberBehaviour,
  draw: Random,
): string {
  if (draw.next() < hedge)
    return draw.shuffle([answer, slipped(Number(answer), draw)]).join(" or ");
  if (draw.next() >= reword) return answer;
  return draw.int(2) === 0 ? `${answer}.` : filled(THOUGHTS.answer, { value: answer });
}

/** A wrong result: off by 1, 2, 10 or 20, never negative for a value that is not. */
function slipped(right: number, draw: Random): string {
  const off = draw.pick([1, 2, 10, 20]);
  return shown(draw.int(2) === 0 && right >= off ? right - off : right + off);
}

function shown(value: number): string {
  return String(Number(value.toFixed(2)));
}

function wandering(numbers: readonly string[], draw: Random): string {
  const [a = 2, b = 2] = draw.shuffle(numbers).map(Number);
  const [operation, x, y] =
    draw.int(2) === 0 ? (["+", a, b] as const) : (["-", Math.max(a, b), Math.min(a, b)] as const);
  const step = `${expressionOf(operation, [String(x), String(y)])} = ${applied(operation, [x, y])}`;
  return filled(THOUGHTS.wander, { step });
}
