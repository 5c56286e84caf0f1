/** The name of an evaluation in a run, of which its files and messages are made: `after`; of a set, `transfer/after`. */
export function evaluationName(set: string | null, when: string): string {
  return set === null ? when : `${set}/${when}`;
}

/** The inverse of `evaluationName`. */
export function parseEvaluationName(name: string): { set: string | null; when: string } {
  const [when = name, set = null] = name.split("/").reverse();
  return { set, when };
}
