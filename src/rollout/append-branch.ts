import type { Trajectory } from "../trajectory/trajectory.ts";

/**
 * Appends the record of a branch to a trajectory of the same question: its calls, turns, hints, searches and times.
 *
 * @param chain name of the branch's turns; their own chain is kept behind it: `2/draft`.
 */
export function appendBranch(into: Trajectory, part: Trajectory, chain: string): void {
  const offset = into.calls.length;
  for (const call of part.calls) {
    into.calls.push({ ...call, parent: call.parent === null ? null : call.parent + offset });
  }
  for (const turn of part.turns) {
    const own = turn.chain === undefined ? chain : `${chain}/${turn.chain}`;
    into.turns.push({ ...turn, call: turn.call + offset, chain: own });
  }
  for (const hint of part.hints ?? []) {
    (into.hints ??= []).push({ ...hint, call: hint.call + offset });
  }
  if (part.given !== undefined) (into.given ??= []).push(...part.given);
  if (part.timings === undefined) return;
  const { firstTokenMs, modelMs, searchMs } = part.timings;
  const timings = (into.timings ??= {});
  if (firstTokenMs !== undefined) timings.firstTokenMs ??= firstTokenMs;
  if (modelMs !== undefined) timings.modelMs = (timings.modelMs ?? 0) + modelMs;
  if (searchMs !== undefined) timings.searchMs = (timings.searchMs ?? 0) + searchMs;
}
