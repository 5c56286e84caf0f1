import { z } from "../../base/schema.ts";
import { mean } from "../../base/statistics.ts";
import type { PreferencePair } from "../../trajectory/sample.ts";
import type { Call, Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { type ValuedCandidate, valuedCandidates } from "./ranking.ts";
import { defineStep } from "./step.ts";

/**
 * Pairs the best draw of a question with its worst, if they differ; the seed breaks ties. All draws stay.
 * Tool-Star's self-critic pairs are those with `{ chosenAtLeast: 1, rejectedBelow: 1 }`.
 */
export const bestWorstPairs = defineStep({
  name: "best-worst-pairs",
  summary: "Pairs the best draw of each question with its worst, for preference training.",
  kind: "pairs",
  source: "Collab-RAG, arXiv 2504.04915, section 4.2; Tool-Star, arXiv 2505.16410",
  options: z.strictObject({
    /** What compares them: `reward`, or the name of a score. */
    by: z.string().default("reward"),
    /** Smallest difference of a pair; equal draws never make one. */
    leastMargin: z.number().min(0).default(0),
    /** Smallest value of the chosen draw, and the value that the rejected draw must stay below; absent: any. */
    chosenAtLeast: z.number().optional(),
    rejectedBelow: z.number().optional(),
  }),
  open: (settings, { seed }) => {
    const { by, leastMargin, chosenAtLeast = -Infinity, rejectedBelow = Infinity } = settings;
    return {
      apply({ task, candidates }) {
        const nothing = { kept: candidates, dropped: [] };
        const ranked = valuedCandidates(candidates, { by, seed, taskId: task.id }).sort(
          (a, b) => b.value - a.value,
        );
        const best = ranked[0];
        const worst = ranked.at(-1);
        if (best === undefined || worst === undefined) return nothing;
        const margin = best.value - worst.value;
        const fits = best.value >= chosenAtLeast && worst.value < rejectedBelow;
        if (margin <= 0 || margin < leastMargin || !fits) return nothing;
        const [chosen, rejected] = [best.candidate, worst.candidate];
        const id = `${chosen.id}>${rejected.id}`;
        return { ...nothing, pairs: [{ id, chosen, rejected, margin }] };
      },
    };
  },
});

/**
 * Pairs actions of one state: messages of draws whose text and tokens are the same up to that turn (all first messages of a question share
 * one). The value of an action is the mean reward of its draws; the best is chosen, the worst rejected, the seed breaks ties. Only that turn
 * is compared (`turns: 1`). Different here: RAG-Gym ranks ten actions per step by a judge; here rewards of whole draws do, as in its
 * "rollout" labels.
 */
export const stepPairs = defineStep({
  name: "step-pairs",
  summary: "Pairs the best and the worst message after the same prefix, for preference training.",
  kind: "pairs",
  source: "RAG-Gym, arXiv 2502.13957, section 3.2; Math-Shepherd, arXiv 2312.08935",
  options: z.strictObject({
    /** The value of an action is the mean of this: `reward`, or the name of a score. */
    by: z.string().default("reward"),
    /** Smallest difference of two actions' values; equal ones never make a pair. */
    leastMargin: z.number().min(0).default(0),
    /** Fewest draws with an action for its value to count. */
    leastDraws: z.int().min(1).default(1),
  }),
  open: ({ by, leastMargin, leastDraws }, { seed }) => ({
    apply({ task, candidates }) {
      const valued = valuedCandidates(candidates, { by, seed, taskId: task.id });
      const pairs = [...statesOf(valued).values()].flatMap(({ turn, actions }) => {
        const ranked = [...actions.values()]
          .filter((takers) => takers.length >= leastDraws)
          .map((takers) => ({ takers, value: mean(takers.map(({ value }) => value)) }))
          .sort((a, b) => b.value - a.value);
        const best = ranked[0];
        const worst = ranked.at(-1);
        if (best === undefined || worst === undefined) return [];
        const margin = best.value - worst.value;
        if (margin <= 0 || margin < leastMargin) return [];
        // Any draw with the action would do; the best and the worst are clearest for readers of the file.
        const chosen = best.takers.reduce((a, b) => (b.value > a.value ? b : a)).candidate;
        const rejected = worst.takers.reduce((a, b) => (b.value < a.value ? b : a)).candidate;
        const id = `${chosen.id}>${rejected.id}@${turn}`;
        return [{ id, chosen, rejected, fromTurn: turn, turns: 1, margin }];
      });
      return { kept: candidates, dropped: [], pairs: pairs.sort(byPlace) };
    },
  }),
});

/** A turn that draws reached with the same tokens, and the action of each. */
type State = { turn: number; actions: Map<string, ValuedCandidate[]> };

function statesOf(valued: readonly ValuedCandidate[]): Map<string, State> {
  const states = new Map<string, State>();
  for (const each of valued) {
    const { turns, calls } = each.candidate.trajectory;
    const said: string[] = [];
    for (const [turn, { call, text, chain }] of turns.entries()) {
      const before = [...said];
      said.push(text);
      // Drafts and other chains did not lead to the answer, so they are not compared; but they must be equal.
      if (chain !== undefined) continue;
      const key = JSON.stringify([turn, before, sequenceBefore(calls, call)]);
      const state = states.get(key) ?? { turn, actions: new Map<string, ValuedCandidate[]>() };
      states.set(key, state);
      state.actions.set(text, [...(state.actions.get(text) ?? []), each]);
    }
  }
  return states;
}

function sequenceBefore(calls: Trajectory["calls"], index: number): unknown[] {
  const prompts: Segment[][] = [];
  let call: Call | undefined = calls[index];
  prompts.push(call?.prompt ?? []);
  while (call !== undefined && call.parent !== null) {
    call = calls[call.parent];
    prompts.push([...(call?.prompt ?? []), ...(call?.completion ?? [])]);
  }
  const read = prompts.reverse().flat();
  // The model sees neither the owners nor the borders of segments.
  return [read.flatMap(({ ids }) => ids), read.map(({ text = "" }) => text).join("")];
}

/** Earlier turns first; pairs of one turn by their draws, so that the order does not depend on the seed. */
function byPlace(a: Omit<PreferencePair, "task">, b: Omit<PreferencePair, "task">): number {
  return (a.fromTurn ?? 0) - (b.fromTurn ?? 0) || (a.id < b.id ? -1 : 1);
}
