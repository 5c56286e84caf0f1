import type { ComparedQuestion, ComparedRun } from "../../src/experiment/compare/compared-run.ts";

/** A question of a run as far as a test says it; each value of `em` is one draw. */
export interface MadeQuestion extends Partial<Omit<ComparedQuestion, "draws">> {
  em: readonly number[];
}

/** A run of questions q0, q1, … unless they have ids of their own. */
export function madeRun(
  name: string,
  questions: readonly (MadeQuestion | number)[],
  changes: Partial<ComparedRun> = {},
): ComparedRun {
  const made = questions.map((given, i): ComparedQuestion => {
    const { em, ...rest } = typeof given === "number" ? { em: [given] } : given;
    const draws = em.map((value) => ({ answer: `${name} ${value}`, values: { em: value } }));
    return { id: `q${i}`, question: null, references: null, errors: 0, ...rest, draws };
  });
  return {
    name,
    questions: new Map(made.map((question) => [question.id, question])),
    metrics: ["em"],
    fingerprint: null,
    protocol: null,
    facts: {},
    ...changes,
  };
}
