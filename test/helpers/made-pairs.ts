import type { Candidate, PreferencePair } from "../../src/trajectory/sample.ts";
import type { Segment, Trajectory } from "../../src/trajectory/trajectory.ts";

/** What a policy wrote in one turn, and what it was shown after it. */
export interface MadeTurn {
  text: string;
  reply?: string;
}

/** Makes token ids of text; absent: text is kept as it is, as of a remote model. */
type Encode = (text: string) => number[];

/** A trajectory of one chat: a prompt, messages and replies. */
export function madeTrajectory(
  id: string,
  turns: readonly MadeTurn[],
  { encode, prompt = "the river " }: { encode?: Encode; prompt?: string } = {},
): Trajectory {
  const segment = (owner: Segment["owner"], text: string): Segment =>
    encode === undefined
      ? { owner, ids: [], logprobs: null, text }
      : { owner, ids: encode(text), logprobs: null };
  return {
    id,
    taskId: "q",
    groupId: "q",
    purpose: "train",
    seed: 1,
    calls: turns.map(({ text }, i) => ({
      parent: i === 0 ? null : i - 1,
      role: "policy",
      policyVersion: 0,
      finish: "stop",
      prompt: [
        i === 0 ? segment("template", prompt) : segment("environment", turns[i - 1]?.reply ?? ""),
      ],
      completion: [segment("policy", text)],
    })),
    turns: turns.map(({ text, reply }, call) => ({
      call,
      text,
      actions: [],
      problems: [],
      observations: reply === undefined ? [] : [{ tool: "search", text: reply }],
    })),
    answer: null,
    end: "answered",
    rewards: [],
    reward: null,
  };
}

export function madeCandidate(trajectory: Trajectory): Candidate {
  return {
    id: trajectory.id,
    trajectory,
    weight: 1,
    scores: {},
    provenance: {
      agentrl: "0.0.0",
      settings: "s",
      teacher: { name: "model" },
      strategy: "agent",
      draw: { name: "plain", number: 0 },
      template: "t",
      retriever: "r",
      dataset: "d",
      seed: 1,
      steps: [],
    },
  };
}

/** @param more `fromTurn` and `turns`, where not all is compared. */
export function madePair(
  id: string,
  chosen: Trajectory,
  rejected: Trajectory,
  more: Pick<PreferencePair, "fromTurn" | "turns"> = {},
): PreferencePair {
  return {
    id,
    task: { id: "q", question: "?", references: ["a"], source: "made", annotations: {} },
    chosen: madeCandidate(chosen),
    rejected: madeCandidate(rejected),
    margin: 1,
    ...more,
  };
}
