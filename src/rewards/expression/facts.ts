import {
  type Trajectory,
  isInvalidTurn,
  policyTokenCount,
  searchCount,
} from "../../trajectory/trajectory.ts";
import type { RewardHistory } from "../context.ts";

/** When a batch is scored. */
export interface ScoringTime {
  /** From 0. */
  step: number;
  /** At least 1. */
  totalSteps: number;
  history: RewardHistory;
}

/** Something that an expression can ask about a trajectory or the run. true is 1, false is 0, null is unknown. */
interface Fact {
  /** For lists and documentation. */
  summary: string;
  /** text: it can only be compared with quoted text. */
  type: "number" | "text";
  of: (trajectory: Trajectory, time: ScoringTime) => number | string | null;
}

export const FACTS: Readonly<Record<string, Fact>> = {
  answered: {
    summary: "whether there is a final answer",
    type: "number",
    of: ({ answer }) => Number(answer !== null),
  },
  end: { summary: "why it ended", type: "text", of: ({ end }) => end },
  status: {
    summary: "the environment's status after the last turn; unknown where it has none",
    type: "text",
    of: ({ turns }) => turns.at(-1)?.status ?? null,
  },
  turns: {
    summary: "messages of the policy",
    type: "number",
    of: ({ turns }) => turns.filter(({ chain }) => chain === undefined).length,
  },
  invalid_turns: {
    summary: "messages that are no valid action: unread, or all of whose calls failed",
    type: "number",
    of: ({ turns }) => turns.filter(isInvalidTurn).length,
  },
  searches: { summary: "searches that were run", type: "number", of: searchCount },
  tool_calls: {
    summary: "tool calls that were run",
    type: "number",
    of: ({ turns }) => turns.reduce((sum, { observations }) => sum + observations.length, 0),
  },
  tokens: { summary: "tokens that the policy wrote", type: "number", of: policyTokenCount },
  calls: { summary: "requests to models", type: "number", of: ({ calls }) => calls.length },
  step: { summary: "step of the run, from 0", type: "number", of: (_, { step }) => step },
  progress: {
    summary: "0 at the first step, 1 at the last",
    type: "number",
    of: (_, { step, totalSteps }) => (totalSteps > 1 ? step / (totalSteps - 1) : 0),
  },
};
