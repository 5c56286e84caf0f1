import { ConfigError, RolloutError } from "../../base/errors.ts";
import { defineTeacher } from "../../env/teacher.ts";
import { textAfter } from "../../env/planned-text.ts";

/**
 * A teacher that answers with the first reference in its first message, without a thought or a search. It teaches nothing where a question
 * does not tell its answer.
 *
 * A rollout fails with TEACHER_GAVE_UP if its question has no reference, and with TEACHER_CANNOT_PLAY (a ConfigError: the run stops) if a
 * strategy has its own prompts.
 */
export const reference = defineTeacher({
  name: "reference",
  summary: "Answers with the first reference at once.",
  open: () => (place) => {
    if (place.ownPrompt) {
      throw new ConfigError(
        "TEACHER_CANNOT_PLAY",
        "teacher reference: the strategy has its own prompts, which only a model can answer. Choose strategy: direct, or a teacher with a model.",
      );
    }
    const [input] = place.task.references;
    if (input === undefined) {
      const message = `teacher reference: the question ${place.task.id} has no reference.`;
      throw new RolloutError("TEACHER_GAVE_UP", message);
    }
    return textAfter(place.prefill, { thought: "", action: { tool: "answer", input } }, place);
  },
});
