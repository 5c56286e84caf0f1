import { z } from "../../base/schema.ts";
import { wordsOf } from "../../text/words.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type {
  Action,
  Call,
  InsertedHint,
  Segment,
  Trajectory,
  Turn,
} from "../../trajectory/trajectory.ts";
import { callsOf, mainTurns } from "./main-line.ts";
import { defineStep, type StepResources } from "./step.ts";

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

/**
 * A trajectory without one message and what came back for it, as if it had never been written. Of its calls, turns and everything that
 * counts them:
 * - the call that followed it continues the call before it, from what was shown before the message that is gone;
 * - indices of calls (parents, turns, hints, addresses of rewards) count the calls that are left;
 * - what was written later was sampled after other text: its log-probabilities are dropped.
 *
 * @param call of the message.
 * @returns null where the message cannot be taken out: nothing follows it, several calls do, one whose prompt was
 *   built anew, or something is withheld in a prompt beside it.
 */
function withoutMessage(trajectory: Trajectory, call: number): Trajectory | null {
  const gone = trajectory.calls[call];
  const following = trajectory.calls.flatMap(({ parent }, i) => (parent === call ? [i] : []));
  const [next] = following;
  if (gone === undefined || gone.parent === null || next === undefined || following.length > 1)
    return null;
  const leads = trajectory.turns.some((turn) => turn.call === next && turn.chain === undefined);
  // Prompts that were built anew after it show the message that is to go.
  const rebuilt = trajectory.calls.some(({ parent }, i) => i > call && parent === null);
  const beside = [...gone.prompt, ...(trajectory.calls[next]?.prompt ?? [])];
  if (!leads || rebuilt || beside.some(({ owner }) => owner === "inserted")) return null;
  const index = (of: number): number => (of > call ? of - 1 : of);
  const stale = descendants(trajectory.calls, next);
  const calls = trajectory.calls.flatMap((each, i): Call[] => {
    if (i === call) return [];
    const parent = i === next ? gone.parent : each.parent;
    const prompt = i === next ? gone.prompt : each.prompt;
    const completion = stale.has(i) ? each.completion.map(unsampled) : each.completion;
    return [{ ...each, parent: parent === null ? null : index(parent), prompt, completion }];
  });
  const { hints, ...rest } = trajectory;
  const left = hints?.filter((hint) => hint.call !== call) ?? [];
  return {
    ...rest,
    calls,
    turns: trajectory.turns
      .filter((turn) => turn.call !== call)
      .map((turn) => ({ ...turn, call: index(turn.call) })),
    ...(left.length === 0
      ? {}
      : { hints: left.map((hint) => ({ ...hint, call: index(hint.call) })) }),
    rewards: trajectory.rewards
      .filter(({ at }) => at?.call !== call)
      .map((reward) =>
        reward.at === null
          ? reward
          : { ...reward, at: { ...reward.at, call: index(reward.at.call) } },
      ),
  };
}

/** A segment that nobody can say the log-probabilities of any more. */
function unsampled(segment: Segment): Segment {
  return { ...segment, logprobs: null };
}

/** A call and all that continue it. */
function descendants(calls: readonly Call[], from: number): Set<number> {
  const found = new Set([from]);
  calls.forEach(({ parent }, i) => {
    if (parent !== null && found.has(parent)) found.add(i);
  });
  return found;
}
