/** What must hold between the calls of a trajectory. */
import type { Call } from "../trajectory.ts";
import type { LintRule } from "./lint-rule.ts";

export const parents: LintRule = {
  name: "parent",
  summary: "A call continues an earlier call, so that there is no circle.",
  find: ({ calls }) =>
    calls.flatMap(({ parent }, index) =>
      parent === null || (Number.isInteger(parent) && parent >= 0 && parent < index)
        ? []
        : [`calls[${index}].parent is ${parent}; expected an earlier call, or null.`],
    ),
};

/**
 * A call holds only the tokens after its parent's sequence. The usual mistake is a prompt that
 * repeats the whole conversation.
 */
export const prefix: LintRule = {
  name: "prefix",
  summary:
    "A call adds to its parent's sequence: its prompt does not begin with the conversation again.",
  find: ({ calls }) =>
    calls.flatMap((call, index) => {
      const root = rootOf(calls, call);
      if (root === call || root === null) return [];
      const start = contentOf(root.prompt);
      if (start.length === 0 || !startsWith(contentOf(call.prompt), start)) return [];
      return [
        `calls[${index}] continues calls[${call.parent ?? ""}] and repeats the first prompt (${start.length} ${root.prompt.some(({ ids }) => ids.length > 0) ? "ids" : "pieces of text"}).`,
      ];
    }),
};

function rootOf(calls: readonly Call[], call: Call): Call | null {
  let at: Call | undefined = call;
  for (let steps = 0; at !== undefined && steps <= calls.length; steps++) {
    if (at.parent === null) return at;
    at = calls[at.parent];
  }
  return null;
}

/** Ids, or texts where a server keeps the tokens; without inserted segments. */
function contentOf(segments: Call["prompt"]): (number | string)[] {
  return segments
    .filter(({ owner }) => owner !== "inserted")
    .flatMap(({ ids, text }): (number | string)[] => (text === undefined ? ids : [text]));
}

function startsWith(whole: readonly unknown[], start: readonly unknown[]): boolean {
  return whole.length >= start.length && start.every((each, i) => whole[i] === each);
}
