import { z } from "../../base/schema.ts";
import { wordsOf } from "../../text/words.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Action, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { defineStep } from "./define-step.ts";
import { callsOf, mainTurns } from "./main-line.ts";
import { withoutMessage } from "./without-message.ts";

/**
 * A message all of whose calls were made before, with the same words, goes with what came back for it; the trajectory reads on as if
 * it had not been written. One that cannot be taken out (its prompts were built anew, or other lines continue it) is dropped.
 */
export const dropRepeatedCalls = defineStep({
  name: "drop-repeated-calls",
  kind: "repair",
  summary: "Takes out messages that only ask what was asked before, with what came back for them.",
  source:
    "Tool-Star, arXiv 2505.16410: quality normalisation, duplicate calls; whole messages are taken out here, so that tokens stay as sampled",
  options: z.strictObject({}),
  open: () => ({
    apply({ candidates }) {
      const kept: Candidate[] = [];
      const dropped: { id: string; reason: string }[] = [];
      const mended: string[] = [];
      for (const candidate of candidates) {
        const { id } = candidate;
        const trajectory = withoutRepeats(candidate.trajectory);
        if (trajectory === null) dropped.push({ id, reason: "repeat stays" });
        else if (trajectory === candidate.trajectory) kept.push(candidate);
        else {
          kept.push({ ...candidate, trajectory });
          mended.push(id);
        }
      }
      return { kept, dropped, mended };
    },
  }),
});

/** The same trajectory where nothing is repeated; null where a repeat cannot be taken out. */
function withoutRepeats(trajectory: Trajectory): Trajectory | null {
  let left = trajectory;
  for (;;) {
    const repeat = firstRepeat(mainTurns(left));
    if (repeat === null) return left;
    const without = withoutMessage(left, repeat.call);
    if (without === null) return null;
    left = without;
  }
}

function firstRepeat(turns: readonly Turn[]): Turn | null {
  const asked = new Set<string>();
  for (const turn of turns) {
    const calls = callsOf(turn).map(nameOf);
    const answers = turn.actions.length > calls.length;
    if (!answers && calls.length > 0 && calls.every((call) => asked.has(call))) return turn;
    for (const call of calls) asked.add(call);
  }
  return null;
}

function nameOf({ tool, input }: Action): string {
  return [tool, ...wordsOf(input)].join(" ");
}
