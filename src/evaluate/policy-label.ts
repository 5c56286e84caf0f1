/** A policy for people and file names. @example policyLabel({ from: "http://127.0.0.1:9001/v1", model: "qwen" }) // "qwen @ 127.0.0.1:9001" */
export function policyLabel(policy: { from?: string; model?: string }): string {
  const { from = "policy", model } = policy;
  if (model === undefined) return from;
  return `${model} @ ${URL.canParse(from) ? new URL(from).host : from}`;
}

/** The name of an evaluation in a run, of which its files and messages are made: `after`; of a set, `transfer/after`. */
export function evaluationName(set: string | null, when: string): string {
  return set === null ? when : `${set}/${when}`;
}

/** The inverse of `evaluationName`. */
export function parseEvaluationName(name: string): { set: string | null; when: string } {
  const [when = name, set = null] = name.split("/").reverse();
  return { set, when };
}
