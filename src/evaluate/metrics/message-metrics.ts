import { rowMetric, sparseRowMetric } from "./row-metric.ts";

/** Metrics of the policy's messages: format, number, tokens. */
export const messageMetrics = [
  rowMetric({
    name: "format_rate",
    label: "parsed",
    headline: true,
    summary:
      "Share of trajectories that have a message and all of whose messages are valid actions.",
    of: ({ formatOk }) => Number(formatOk),
  }),
  rowMetric({
    name: "turns",
    headline: true,
    summary: "Messages per question.",
    range: [0, Infinity],
    of: ({ turns }) => turns,
  }),
  sparseRowMetric({
    name: "invalid_action_rate",
    summary:
      "Share of a question's messages that are no valid action: unread, or all of whose calls failed.",
    of: ({ turns, invalidTurns }) => (turns === 0 ? null : invalidTurns / turns),
  }),
  sparseRowMetric({
    name: "return",
    decimals: 3,
    headline: true,
    summary: "What the environment paid over an episode, on average.",
    range: [-Infinity, Infinity],
    interval: "bootstrap",
    of: ({ return: paid }) => paid ?? null,
  }),
  rowMetric({
    name: "turn_limit_rate",
    summary: "Share of trajectories that ended at the turn limit.",
    of: ({ end }) => Number(end === "turn-limit"),
  }),
  sparseRowMetric({
    name: "cut_message_rate",
    summary: "Share of trajectories with a message that ended at its most tokens.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.messages > 0)),
  }),
  sparseRowMetric({
    name: "cut_observation_rate",
    summary: "Share of trajectories with an observation that the policy saw only in part.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.observations > 0)),
  }),
  sparseRowMetric({
    name: "cut_context_rate",
    summary: "Share of trajectories that a full context ended or shortened.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.context)),
  }),
  sparseRowMetric({
    name: "completion_tokens",
    label: "tokens",
    decimals: 1,
    headline: true,
    summary: "Tokens written per question, if recorded or counted by a server.",
    range: [0, Infinity],
    of: ({ tokens }) => tokens ?? null,
  }),
  sparseRowMetric({
    name: "first_answer",
    summary: "Share of what the policy wrote that stands before its first answer.",
    source: "time to first token, arXiv 2505.19640, in characters instead of tokens",
    of: ({ firstAnswer }) => firstAnswer ?? null,
  }),
  sparseRowMetric({
    name: "prompt_tokens",
    decimals: 1,
    summary: "Tokens read per question, over all calls, if recorded or counted by a server.",
    range: [0, Infinity],
    of: ({ promptTokens }) => promptTokens ?? null,
  }),
] as const;
