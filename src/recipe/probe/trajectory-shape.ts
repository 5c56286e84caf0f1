import type { SampleResult } from "../../engine/engine.ts";
import type { CompletionRequest, TokenPolicy } from "../../rollout/policy.ts";
import type { LongestSequence } from "../plan/longest-sequence.ts";

/** One message of a trajectory: what the policy reads before it and what it writes, in tokens. */
export interface CallShape {
  /** Read beyond what its sequence already holds; of a prompt built anew, all of it. */
  read: number;
  written: number;
  /** Whether the prompt does not extend the last one. */
  anew: boolean;
}

/** As much of a trajectory as its cost depends on. */
export interface TrajectoryShape {
  /** Trajectories of one group share their first prompt. */
  group: string;
  calls: CallShape[];
}

/** A sequence that is learned from. */
export interface SequenceShape {
  tokens: number;
  /** Of those, written by the policy. */
  written: number;
}

/** Sequences of a trajectory: one for each prompt that was built anew, with what extends it. */
export function sequencesOf({ calls }: TrajectoryShape): SequenceShape[] {
  const sequences: SequenceShape[] = [];
  for (const { read, written, anew } of calls) {
    const last = sequences.at(-1);
    if (anew || last === undefined) sequences.push({ tokens: read + written, written });
    else {
      last.tokens += read + written;
      last.written += written;
    }
  }
  return sequences;
}

/** Tokens of the longest sequence among trajectories; 0 of none. */
export function longestOf(shapes: readonly TrajectoryShape[]): number {
  return Math.max(0, ...shapes.flatMap((each) => sequencesOf(each).map(({ tokens }) => tokens)));
}

/** A policy that notes what it reads and writes, also of trajectories that are given up. */
export function notingPolicy(policy: TokenPolicy): {
  policy: TokenPolicy;
  /** By sequence, in order of their first call. */
  noted: Map<string, TrajectoryShape>;
} {
  const noted = new Map<string, TrajectoryShape>();
  const held = new Map<string, number>();
  const note = ({ sequence, promptIds, task }: CompletionRequest, { ids }: SampleResult): void => {
    const key = sequence ?? "";
    const before = held.get(key) ?? 0;
    const shape = noted.get(key) ?? { group: task.id, calls: [] };
    // What a cut took off the last message is fewer than it wrote.
    const anew = before === 0 || promptIds.length < before / 2;
    const read = anew ? promptIds.length : Math.max(0, promptIds.length - before);
    shape.calls.push({ read, written: ids.length, anew });
    noted.set(key, shape);
    held.set(key, promptIds.length + ids.length);
  };
  return {
    noted,
    policy: {
      ...policy,
      get version() {
        return policy.version;
      },
      async complete(request) {
        const result = await policy.complete(request);
        note(request, result);
        return result;
      },
    },
  };
}

/** What every trajectory would be that used all that its budgets allow. */
export function longestShape(longest: LongestSequence, group: string): TrajectoryShape {
  const { tokens, messages, observations, prompt } = longest;
  const calls: CallShape[] = [];
  let left = tokens - prompt;
  let read = Math.min(prompt, tokens);
  while (left > 0 && calls.length < (messages.count ?? Infinity)) {
    const written = Math.min(messages.each, left);
    calls.push({ read, written, anew: calls.length === 0 });
    left -= written;
    const shown = calls.length <= (observations.count ?? Infinity) ? observations.each : 0;
    read = Math.min(shown ?? left, left);
    left -= read;
  }
  return { group, calls };
}

/** A trajectory that was given up, ended by one more message like its others. */
export function endedSoon(shape: TrajectoryShape): TrajectoryShape {
  const last = shape.calls.at(-1);
  if (last === undefined) return shape;
  const read = shape.calls.find(({ anew }) => !anew)?.read ?? 0;
  return { ...shape, calls: [...shape.calls, { read, written: last.written, anew: false }] };
}

/** An abandoned trajectory, extrapolated at its own pace to the limits of its budgets. */
export function carriedOn(shape: TrajectoryShape, longest: LongestSequence): TrajectoryShape {
  const calls = [...shape.calls];
  const last = calls.at(-1);
  if (last === undefined) return longestShape(longest, shape.group);
  const shown = calls.find(({ anew }) => !anew)?.read ?? longest.observations.each ?? 0;
  const total = (): number => longestOf([{ ...shape, calls }]);
  const next = { read: shown, written: Math.max(1, last.written), anew: false };
  const most = longest.messages.count ?? Infinity;
  while (calls.length < most && total() + next.read + next.written <= longest.tokens) {
    calls.push({ ...next });
  }
  return { ...shape, calls };
}
