import type { Call, Segment, Trajectory } from "../../trajectory/trajectory.ts";

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
export function withoutMessage(trajectory: Trajectory, call: number): Trajectory | null {
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
export function unsampled(segment: Segment): Segment {
  return { ...segment, logprobs: null };
}

/** A call and all that continue it. */
export function descendants(calls: readonly Call[], from: number): Set<number> {
  const found = new Set([from]);
  calls.forEach(({ parent }, i) => {
    if (parent !== null && found.has(parent)) found.add(i);
  });
  return found;
}
