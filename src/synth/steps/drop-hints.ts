import { z } from "../../base/schema.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Call, InsertedHint, Trajectory } from "../../trajectory/trajectory.ts";
import { defineStep } from "./define-step.ts";
import type { StepResources } from "./step.ts";
import { descendants, unsampled } from "./without-message.ts";

/**
 * Takes the segments of hints out of calls and their text out of messages; everything else stays as it was written, log-probabilities
 * of what was sampled after a hint apart. A hint that a message's action hangs on cannot be taken out: such
 * a trajectory is dropped. Gates that look for hints stand before this step.
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
  const { hints: _hints, ...rest } = trajectory;
  const calls = [...trajectory.calls];
  const turns = [...trajectory.turns];
  const stale = new Set<number>();
  for (const { call: index, text } of hints) {
    const call = calls[index];
    const at = call && findHint(call, text, textOf);
    if (call === undefined || at == null) return "hint stays";
    calls[index] = { ...call, [at.part]: call[at.part].toSpliced(at.segment, 1) };
    for (const each of descendants(calls, index)) stale.add(each);
    if (at.part === "prompt") continue;
    const before = call.completion.slice(0, at.segment).map(textOf).join("").length;
    turns.forEach((turn, i) => {
      if (turn.call === index) turns[i] = { ...turn, text: cutOut(turn.text, text, before) };
    });
  }
  const acts = (text: string): string => JSON.stringify(protocol.parse(text).actions);
  const hangs = turns.some(({ text }, i) => acts(text) !== acts(trajectory.turns[i]?.text ?? ""));
  if (hangs) return "action in hint";
  const resampled = calls.map((call, i) =>
    stale.has(i) ? { ...call, completion: call.completion.map(unsampled) } : call,
  );
  return { ...rest, calls: resampled, turns };
}

/** Where a hint stands in a call: in a segment that is the hint and nothing else. */
function findHint(
  call: Call,
  hint: string,
  textOf: StepResources["textOf"],
): { part: "completion" | "prompt"; segment: number } | null {
  for (const part of ["completion", "prompt"] as const) {
    const segment = call[part].findIndex(
      (each) => each.owner === "inserted" && textOf(each).trim() === hint.trim(),
    );
    if (segment >= 0) return { part, segment };
  }
  return null;
}

/** A message without a hint that stands at a place, or else behind it. */
function cutOut(message: string, hint: string, place: number): string {
  const at = message.indexOf(hint, Math.max(0, place));
  return at < 0 ? message : message.slice(0, at) + message.slice(at + hint.length);
}
