import { defineAnnotation } from "agentrl";

export default defineAnnotation({
  name: "question-words",
  summary: "Adds the long words of the question as search queries.",
  open: () => ({
    async annotate(task) {
      const words = task.question.match(/\p{L}{5,}/gu) ?? [];
      return { ...task, annotations: { ...task.annotations, searchTerms: [words] } };
    },
  }),
});
