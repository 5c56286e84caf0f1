import { RolloutError } from "../../base/errors.ts";
import { type Random, random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { type PlannedMessage, textAfter } from "../../env/protocols/protocol.ts";
import { type ScriptPlace, defineTeacher } from "../../env/teacher.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { filled, THOUGHTS } from "../numbers/language.ts";
import { unboxed } from "../numbers/teacher.ts";
import { byHand, type Counting, programOf, readCounting, valuesOf } from "./problems.ts";

const share = z.number().min(0).max(1);

/** Probabilities of what the teacher counting-plan does; the defaults solve every problem with one program. */
export const countingBehaviourSchema = z.strictObject({
  /** To write a program, where the environment runs one; else it counts by hand. */
  code: share.default(1),
  /** To count by hand before it writes the program: the late computing of CoRT. */
  late: share.default(0),
  /** To count by hand again what a program has printed, and to answer that: the distrust of CoRT. */
  recheck: share.default(0),
  /** That a value which is counted by hand, or a sum of two, is wrong. */
  slip: share.default(0),
  /** That a program has a mistake that ends it; the next message writes it again. */
  fail: share.default(0),
  /** That a program runs and is wrong: its range ends one too early. */
  wrong: share.default(0),
  /** To answer in the protocol's way, in place of "The answer is 65." */
  box: share.default(1),
});

export type CountingBehaviour = z.output<typeof countingBehaviourSchema>;

const PYTHON = "python";
const PROGRAM = "I use python.";

/**
 * Solves problems of the counting world by a program or by hand, with slips and mistakes in given proportions; equal question, seed and turns
 * give the same message. @throws TEACHER_GAVE_UP for a question of another world.
 */
export const countingTeacher = defineTeacher({
  name: "counting-plan",
  summary: "Solves problems of the counting world with programs, or counts by hand.",
  options: z.strictObject({ behaviour: countingBehaviourSchema.prefault({}) }),
  open:
    ({ behaviour }) =>
    (place) =>
      written(place, behaviour),
});

function written(place: ScriptPlace, behaviour: CountingBehaviour): string {
  const { task, seed, prefill } = place;
  const problem = readCounting(task.question);
  const [reference] = task.references;
  // The function itself is the answer.
  if (task.annotations["tests"] !== undefined && reference !== undefined && !place.ownPrompt)
    return textAfter(prefill, answerOf([], reference), place);
  if (problem === null || place.ownPrompt) throw gaveUp();
  const draw = random(seed).derive("counting-plan", task.id);
  const message = countingPlan(problem, stateOf(place), behaviour, draw);
  const isBoxed = draw.derive("box", place.turns.length).next() < behaviour.box;
  if (isBoxed || prefill !== "" || message.action.tool !== "answer")
    return textAfter(prefill, message, place);
  return unboxed(message, message.action.input, place);
}

interface State {
  /** What the last program printed; null: none has run, or it failed. */
  printed: string | null;
  failed: number;
  canRun: boolean;
  /** An answer in plain words was refused. */
  isAgain: boolean;
}

function stateOf({ turns, tools, maxTurns, prefill, protocol }: ScriptPlace): State {
  const observations = turns.flatMap((turn): readonly Observation[] => turn.observations);
  const last = observations.at(-1);
  const hasTool = tools.some((tool) => tool.function.name === PYTHON);
  const isForced = prefill.startsWith(protocol.answerOpening);
  return {
    printed: last === undefined || last.problem !== undefined ? null : last.text.trim(),
    failed: observations.filter(({ problem }) => problem !== undefined).length,
    canRun: hasTool && turns.length < maxTurns && !isForced,
    isAgain: turns.at(-1)?.actions.length === 0,
  };
}

/** The next message of a solution. Equal draws give equal choices at every turn. */
export function countingPlan(
  problem: Counting,
  { printed, failed, canRun, isAgain }: State,
  behaviour: CountingBehaviour,
  draw: Random,
): PlannedMessage {
  const codes = draw.derive("code").next() < behaviour.code;
  if (printed !== null && codes) {
    const checks = draw.derive("recheck").next() < behaviour.recheck;
    const again = counted(problem, behaviour, draw.derive("again"));
    const lines = [filled(THOUGHTS.result, { value: printed })];
    if (!checks || isAgain) return answerOf(lines, printed);
    const verdict =
      String(again.answer) === printed
        ? THOUGHTS.agrees
        : filled(THOUGHTS.differs, { value: again.answer });
    return answerOf([...lines, THOUGHTS.verify, ...again.lines, verdict], String(again.answer));
  }
  const own = counted(problem, behaviour, draw.derive("hand"));
  if (!codes || !canRun) return answerOf(isAgain ? [] : own.lines, String(own.answer));
  const isLate = failed === 0 && draw.derive("late").next() < behaviour.late;
  const input = programWith(problem, behaviour, draw.derive("program", failed));
  return {
    thought: [...(isLate ? own.lines : []), PROGRAM].join(" "),
    action: { tool: PYTHON, input },
  };
}

function answerOf(lines: readonly string[], input: string): PlannedMessage {
  return { thought: lines.join(" "), action: { tool: "answer", input } };
}

/** Counted by hand: of the values some are left out or changed, and of the sums some are wrong. */
function counted(problem: Counting, { slip }: CountingBehaviour, draw: Random) {
  const isWrong = (): boolean => draw.next() < slip;
  const off = (value: number): number => value + draw.pick([1, 2, 10]);
  const values = valuesOf(problem).flatMap((value) => {
    if (!isWrong()) return [value];
    return draw.int(2) === 0 ? [] : [off(value)];
  });
  return byHand(problem, values, (a, b) => (isWrong() ? off(a + b) : a + b));
}

function programWith(problem: Counting, { fail, wrong }: CountingBehaviour, draw: Random): string {
  const program = programOf(problem);
  // Of one name that it uses, the last letter is missing, so it is not defined.
  if (draw.next() < fail)
    return program.replace(/\b(range|min|sum)\b/, (name) => name.slice(0, -1));
  const isWrong = draw.next() < wrong;
  return isWrong
    ? program.replace(/ \+ 1\b|(?<=range\()\d+(?=\):)/, (end) =>
        end === " + 1" ? "" : String(Number(end) - 1),
      )
    : program;
}

function gaveUp(): RolloutError {
  const message =
    "teacher counting-plan: it plays whole messages of questions of the dataset counting. Give it that dataset, and strategy: agent or direct.";
  return new RolloutError("TEACHER_GAVE_UP", message);
}
