import { z } from "../../base/schema.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type {
  Action,
  Call,
  InsertedHint,
  Segment,
  Trajectory,
} from "../../trajectory/trajectory.ts";
import { defineStep } from "./define-step.ts";
import type { StepResources } from "./step.ts";
import { descendants, unsampled } from "./without-message.ts";

/**
 * Takes the segments of hints out of calls and their text out of messages; everything else stays as it was written, log-probabilities
 * of what was sampled after a hint apart. A hint that a message's action hangs on, or that shares a segment with what the policy wrote,
 * cannot be taken out: such a trajectory is dropped. Gates that look for hints stand before this step.
 */
export const dropHints = defineStep({
  name: "drop-hints",
  kind: "repair",
  summary: "Takes the hints out of trajectories, so that only what they led to is learned from.",
  source: "START, arXiv 2503.04625, modifies hinted trajectories and does not say how",
  options: z.strictObject({}),
  open: (_settings, resources) => ({
    apply({ candidates }) {
      const kept: Candidate[] = [];
      const dropped: { id: string; reason: string }[] = [];
      const mended: string[] = [];
      for (const candidate of candidates) {
        const { id, trajectory } = candidate;
        const { hints = [] } = trajectory;
        const without =
          hints.length === 0 ? trajectory : withoutHints(trajectory, hints, resources);
        if (typeof without === "string") dropped.push({ id, reason: without });
        else if (without === trajectory) kept.push(candidate);
        else {
          kept.push({ ...candidate, trajectory: without });
          mended.push(id);
        }
      }
      return { kept, dropped, mended };
    },
  }),
});

/** @returns why a hint cannot be taken out, where one cannot. */
function withoutHints(
  trajectory: Trajectory,
  hints: readonly InsertedHint[],
  { textOf, protocol }: StepResources,
): Trajectory | string {
  const { hints: _hints, ...left } = { ...trajectory, calls: [...trajectory.calls] };
  const stale = new Set<number>();
  for (const { call: index, text } of hints) {
    const call = left.calls[index];
    if (call === undefined) return "hint stays";
    const without = callWithout(call, text, textOf);
    if (without === null) return "hint stays";
    left.calls[index] = without;
    for (const each of descendants(left.calls, index)) stale.add(each);
  }
  left.calls = left.calls.map((call, i) =>
    stale.has(i) ? { ...call, completion: call.completion.map(unsampled) } : call,
  );
  const turns = left.turns.map((turn) => {
    const own = hints.filter(({ call }) => call === turn.call);
    const text = own.reduce((said, hint) => said.replace(hint.text, () => ""), turn.text);
    return { ...turn, text };
  });
  const speaks = trajectory.turns.every(
    ({ text, actions }, i) =>
      turns[i]?.text === text ||
      isSame(protocol.parse(turns[i]?.text ?? "").actions, actions) ||
      !isSame(protocol.parse(text).actions, actions),
  );
  return speaks ? { ...left, turns } : "action in hint";
}

function isSame(some: readonly Action[], others: readonly Action[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

/** A call without the first segment that says a hint; null where none does. */
function callWithout(call: Call, hint: string, textOf: StepResources["textOf"]): Call | null {
  for (const part of ["completion", "prompt"] as const) {
    for (const [i, segment] of call[part].entries()) {
      const rest = restOf(segment, hint, textOf);
      if (rest === null) continue;
      return { ...call, [part]: call[part].toSpliced(i, 1, ...rest) };
    }
  }
  return null;
}

/**
 * What is left of a segment without a hint: nothing, or the end of a word of the policy's that was said again before the hint, because
 * a token went over the place. null: it does not say the hint, or its tokens cannot be parted there.
 */
function restOf(segment: Segment, hint: string, textOf: StepResources["textOf"]): Segment[] | null {
  const said = textOf(segment);
  if (segment.owner !== "inserted") return null;
  if (said.trim() === hint.trim()) return [];
  if (!said.endsWith(hint)) return null;
  const text = said.slice(0, -hint.length);
  const { ids } = segment;
  if (ids.length === 0) return [{ owner: "policy", ids, logprobs: null, text }];
  const kept = ids.findIndex((_, i) => textOf({ ...segment, ids: ids.slice(0, i + 1) }) === text);
  return kept < 0 ? null : [{ owner: "policy", ids: ids.slice(0, kept + 1), logprobs: null }];
}
