import type { Random } from "../../../base/random.ts";
import { z } from "../../../base/schema.ts";
import { judgePrompt, VERDICTS } from "../../../trajectory/role-prompts.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { DatasetPart } from "../../../data/dataset.ts";
import { numberWorld } from "../../numbers/number-world.ts";
import { askedFacts, NO_QUESTIONS, otherValue } from "./exercises.ts";
import { type ExercisePlace, exercises, exercisesSchema } from "./exercises.ts";

const share = z.number().min(0).max(1);

type Kind = "right" | "wrong" | "hedged";

/** For judges: references and an answer: right (perhaps with words around it), wrong (another value, or a part), or hedged (both). */
export const judgeExercises: DatasetPart = exercises({
  name: "judge-exercises",
  summary: "Answers to questions, for a role that judges.",
  options: exercisesSchema.extend({
    /** Share of number-world problems, whose references have several spellings. */
    numbers: share.default(0.5),
    /** Share of answers that offer a right and a wrong value. */
    hedged: share.default(0.15),
    /** Share of the hedged answers that the reply accepts: a hole, for studies of rewards that can be fooled. */
    hole: share.default(0),
  }),
  make(place, { numbers, hedged, hole }) {
    const { draw } = place;
    const { task, wrong } = draw.next() < numbers ? numberCase(place) : worldCase(place);
    const { references } = task;
    const right = around(draw.pick(references), draw);
    const isHedged = draw.next() < hedged;
    const kind: Kind = isHedged ? "hedged" : draw.next() < 0.5 ? "right" : "wrong";
    const both = draw.shuffle([draw.pick(references), wrong]).join(" or ");
    const answer = { right, wrong: around(wrong, draw), hedged: both }[kind];
    const isAccepted = kind === "right" || (kind === "hedged" && draw.next() < hole);
    return {
      prompt: judgePrompt({ references, answer }),
      replies: [isAccepted ? VERDICTS.right : VERDICTS.wrong],
      type: `${kind} ${task.source}`,
    };
  },
});

type Case = { task: Task; wrong: string };

function worldCase({ world, number, draw }: ExercisePlace): Case {
  const task = world.question(number, { mix: { ...NO_QUESTIONS, bridge1: 0.5, bridge2: 0.5 } });
  const fact = askedFacts(task).at(-1);
  const [reference = ""] = task.references;
  const words = reference.split(" ");
  if (fact === undefined || (words.length > 1 && draw.next() < 0.3))
    return { task, wrong: draw.pick(words) };
  return { task, wrong: otherValue(world, fact, draw) };
}

/** A problem of the number world and a wrong answer near the right one. */
export function numberCase({ world, number, draw }: ExercisePlace): Case {
  const task = numberWorld({ seed: world.seed, split: world.split }).problem(number);
  const value = Number(task.references[0]);
  const off = draw.pick([-10, -2, -1, 1, 2, 10]);
  const moved = draw.next() < 0.2 ? value * 10 : Math.abs(value + off);
  return { task, wrong: String(moved === value ? value + 1 : moved) };
}

function around(answer: string, draw: Random): string {
  const [before, after] = draw.pick(AROUND);
  return `${before}${answer}${after}`;
}

const AROUND = [
  ...[["", ""] as const, ["", ""] as const, ["", "."] as const],
  ...[["It is ", "."] as const, ["The answer is ", "."] as const, ["I think it is ", "."] as const],
];
