import { ConfigError, RolloutError } from "../../base/errors.ts";
import { type Random, random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import {
  answerText,
  deduction,
  forced,
  isText,
  type Puzzle,
  readPuzzle,
  statementText,
} from "./puzzle.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import { defineTeacher } from "../../env/teacher.ts";

const share = z.number().min(0).max(1);

/** Probabilities of what the teacher knights-plan does; the defaults solve every puzzle. */
export const knightsBehaviourSchema = z.strictObject({
  /** That a conclusion is wrong. Later steps use it. */
  slip: share.default(0),
  /** To take no step for a person, and to guess in the end. */
  skip: share.default(0),
  /** To answer person by person, with the whole answer last; else everything is thought first and answered at once. */
  interleave: share.default(1),
});

export type KnightsBehaviour = z.output<typeof knightsBehaviourSchema>;

/** What is written before the last answer of an interleaved message. */
const LAST_THOUGHT = "Now all are known.";

/**
 * A teacher without a model that solves puzzles of knights and knaves person by person, with slips and guesses in given proportions: what is known, a
 * statement, and what follows. The same question and seed give the same message.
 *
 * A rollout fails with TEACHER_GAVE_UP if a question is no such puzzle or needs cases to be assumed, and with TEACHER_CANNOT_PLAY (a ConfigError: the run
 * stops) if a strategy has its own prompts or begins the message.
 */
export const knightsTeacher = defineTeacher({
  name: "knights-plan",
  summary: "Deduces puzzles of knights and knaves person by person.",
  options: z.strictObject({ behaviour: knightsBehaviourSchema.prefault({}) }),
  open:
    ({ behaviour }) =>
    ({ task, seed, ownPrompt, prefill, protocol, tools }) => {
      if (ownPrompt || prefill !== "") throw cannotPlay();
      const puzzle = readPuzzle(task.question);
      const draw = random(seed).derive("knights-plan", task.id);
      const messages = puzzle === null ? null : knightsPlan(puzzle, behaviour, draw);
      if (messages === null) throw gaveUp();
      return messages.map((each) => protocol.write(each, tools)).join("");
    },
});

/**
 * The thoughts and answers of a solution, the whole answer last.
 * @returns null where some person does not follow from what they say and the people before.
 */
export function knightsPlan(
  puzzle: Puzzle,
  { slip, skip, interleave }: KnightsBehaviour,
  draw: Random,
): PlannedMessage[] | null {
  const steps = deduction(puzzle);
  if (steps === null) return null;
  const { names } = puzzle;
  const believed: (boolean | undefined)[] = names.map(() => undefined);
  const isAbout = (person: number): string =>
    isText(names[person] ?? "", believed[person] ?? false);
  const isInterleaved = draw.next() < interleave;
  const taken: { thought: string; answer: string }[] = [];
  for (const { person, statement, from } of steps) {
    const guess = draw.int(2) === 0;
    if (draw.next() < skip) {
      believed[person] = guess;
      continue;
    }
    const thought = [...from.map((each) => `${isAbout(each)}.`), statementText(puzzle, statement)];
    // After a wrong step a statement may leave both open.
    const right = forced(statement, believed) ?? guess;
    believed[person] = draw.next() < slip ? !right : right;
    taken.push({ thought: thought.join(" "), answer: isAbout(person) });
  }
  const knights = believed.map((each) => each ?? false);
  const last = { tool: "answer", input: answerText(puzzle, knights) };
  if (!isInterleaved) {
    const thought = taken.map((each) => `${each.thought} So ${each.answer}.`).join(" ");
    return [{ thought: thought === "" ? LAST_THOUGHT : thought, action: last }];
  }
  return [
    ...taken.map(({ thought, answer }) => {
      return { thought, action: { tool: "answer", input: answer } };
    }),
    { thought: LAST_THOUGHT, action: last },
  ];
}

function cannotPlay(): ConfigError {
  return new ConfigError(
    "TEACHER_CANNOT_PLAY",
    "teacher knights-plan: it writes whole messages, and the strategy has its own prompts or begins the message. Choose strategy: agent or direct, or a teacher with a model.",
  );
}

function gaveUp(): RolloutError {
  return new RolloutError(
    "TEACHER_GAVE_UP",
    "teacher knights-plan: the question cannot be solved person by person. It needs puzzles of the dataset knights-knaves with stepwise: true.",
  );
}
