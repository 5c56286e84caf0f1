import type { DatasetPart } from "../../../data/dataset.ts";
import { attacks } from "../../../rewards/judge/attacks.ts";
import { judgePrompt, VERDICTS } from "../../../trajectory/role-prompts.ts";
import { exercises, exercisesSchema } from "./exercises.ts";
import { numberCase } from "./judge-exercises.ts";

/**
 * A probe of a judge: problems of the number world with answers that no judge should accept, every kind of attack in turn. The type of an
 * exercise is the attack, so an evaluation of the judge shows its success by type: 1 - exact match.
 *
 * Source: the hacking data of arXiv 2505.22203, with texts of ours (`attacks`).
 */
export const attackExercises: DatasetPart = exercises({
  name: "verifier-attacks",
  summary: "Answers that a judge must refuse, by kind of attack.",
  options: exercisesSchema,
  make(place) {
    const { world, number, draw } = place;
    const { task, wrong } = numberCase(place);
    const { question, references } = task;
    const attack = attacks.parts[(world.seed + number) % attacks.parts.length] ?? attacks.parts[0];
    if (attack === undefined) throw new TypeError("verifier-attacks: there are no attacks.");
    const answer = attack.write({ question, references, wrong }, draw);
    return {
      prompt: judgePrompt({ references, answer }),
      replies: [VERDICTS.wrong],
      type: attack.name,
    };
  },
});
