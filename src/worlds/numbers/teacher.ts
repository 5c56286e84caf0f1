import { ConfigError, RolloutError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { type PlannedMessage, textAfter } from "../../env/protocols/protocol.ts";
import { type ScriptPlace, defineTeacher } from "../../env/teacher.ts";
import { THOUGHTS, filled } from "./language.ts";
import {
  type NumberBehaviour,
  numberBehaviourSchema,
  numberPlan,
  wordedAnswer,
} from "./number-plan.ts";

const CALCULATOR = "calculator";

/**
 * Solves problems of the number world step by step, with slips, re-checks, detours and calls in given proportions. Equal question, seed and
 * turns give the same message.
 * @throws TEACHER_GAVE_UP without computed steps; TEACHER_CANNOT_PLAY (the run stops) for a strategy's own prompts.
 */
export const numberTeacher = defineTeacher({
  name: "number-plan",
  summary: "Calculates problems of the number world step by step.",
  options: z.strictObject({ behaviour: numberBehaviourSchema.prefault({}) }),
  open:
    ({ behaviour }) =>
    (place) => {
      if (place.ownPrompt) throw cannotPlay();
      return written(place, behaviour);
    },
});

function written(place: ScriptPlace, behaviour: NumberBehaviour): string {
  const { task, seed, tools, maxTurns, prefill, protocol } = place;
  const turns = place.turns.filter(({ chain }) => chain === undefined);
  const results = turns.flatMap(({ observations }) => observations.map(({ text }) => text));
  const hasCalculator = tools.some((tool) => tool.function.name === CALCULATOR);
  const isForced = prefill.startsWith(protocol.answerOpening);
  const canCall = hasCalculator && turns.length < maxTurns && !isForced;
  const draw = random(seed).derive("number-plan", task.id);
  const plan = numberPlan({ task, results, canCall }, behaviour, draw);
  if (plan === null) throw gaveUp();
  const { call, answer } = plan;
  // After an answer in plain words, which the environment refused, the solution is not written again.
  const isAgain = turns.at(-1)?.actions.length === 0;
  const lines = isAgain ? [filled(THOUGHTS.answer, { value: answer })] : plan.lines;
  const worded = (): string =>
    wordedAnswer(answer, behaviour, random(seed).derive("wording", task.id));
  const message: PlannedMessage = {
    thought: lines.join(" "),
    action: call === null ? { tool: "answer", input: worded() } : { tool: CALCULATOR, input: call },
  };
  const isBoxed = random(seed).derive("box", task.id, turns.length).next() < behaviour.box;
  if (call !== null || isBoxed || prefill !== "") return textAfter(prefill, message, place);
  return unboxed(message, answer, place);
}

/** A message whose answer stands in plain words, in place of the protocol's way: "The answer is 65." */
export function unboxed(
  message: PlannedMessage,
  value: string,
  { protocol, tools }: Pick<ScriptPlace, "protocol" | "tools">,
): string {
  const whole = protocol.write(message, tools);
  const action = protocol.write({ ...message, thought: "" }, tools);
  return `${whole.slice(0, -action.length)} ${filled(THOUGHTS.answer, { value })}`;
}

function cannotPlay(): ConfigError {
  const message =
    "teacher number-plan: the strategy has its own prompts, which only a model can answer. Choose strategy: agent or direct, or a teacher with a model.";
  return new ConfigError("TEACHER_CANNOT_PLAY", message);
}

function gaveUp(): RolloutError {
  const message =
    "teacher number-plan: the question has no steps to compute. It needs those of the dataset numberworld.";
  return new RolloutError("TEACHER_GAVE_UP", message);
}
