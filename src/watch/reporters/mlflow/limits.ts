/** Metrics and tags of one `runs/log-batch`, and its parameters, at most. Source: MLflow's REST API 2.0, "Request Limits". */
export const MOST = { metrics: 1000, params: 100, tags: 100 };

/** Characters of a parameter's value. MLflow 3 takes 6000, servers of versions 1.29 to 2.7 take 500 and refuse what is longer. */
const MOST_PARAM_CHARACTERS = 500;

/** Characters of a tag's value that every version takes. */
const MOST_TAG_CHARACTERS = 5000;

/** Characters of a name. */
const MOST_NAME_CHARACTERS = 250;

/**
 * A name as MLflow takes it: letters, digits, `_ - . : /` and blanks; anything else becomes `_`, and `@` is spelt out.
 * @example nameFor("evaluation/pass@4") // "evaluation/pass_at_4"
 */
export function nameFor(name: string): string {
  const plain = name.replaceAll("@", "_at_").replaceAll(/[^\w\-.: /]/g, "_");
  return plain.slice(0, MOST_NAME_CHARACTERS);
}

/** A parameter's value, cut where it is too long. */
export function paramText(text: string): string {
  return cut(text, MOST_PARAM_CHARACTERS);
}

/** A tag's value, cut where it is too long. */
export function tagText(text: string): string {
  return cut(text, MOST_TAG_CHARACTERS);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
