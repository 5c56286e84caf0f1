import { z } from "../../base/schema.ts";
import { coverExactMatch, exactMatch, tokenF1 } from "../../text/answers.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import { callsOf, defineGate, defineStep, mainTurns, sortedOut } from "./step.ts";

const FAILED = new Set(["tool-error", "model-error", "timeout", "cancelled"]);
const UNFINISHED = new Set(["turn-limit", "token-limit", "context-limit", "budget-limit"]);

export const answered = defineGate({
  name: "answered",
  summary: "Drops trajectories without a final answer: failed, cut short, or silent.",
  source:
    "Agent Distillation, arXiv 2505.17612: trains only on trajectories that did not run out of steps",
  options: z.strictObject({}),
  why({ trajectory }) {
    const { end, error, answer } = trajectory;
    if (error !== undefined || FAILED.has(end)) return "failed";
    if (UNFINISHED.has(end)) return "unfinished";
    if (answer === null || answer.trim() === "") return "no answer";
    if (end !== "answered") return "unfinished";
    // The answer of a strategy that votes, or uses prompts of its own, is not in a last message.
    const turns = mainTurns(trajectory);
    const answers = turns.some(({ actions }) => actions.some(({ tool }) => tool === "answer"));
    const last = turns.at(-1)?.actions ?? [];
    const searchesOn = last.length > 0 && !last.some(({ tool }) => tool === "answer");
    return searchesOn || (answers && last.length === 0) ? "unfinished" : null;
  },
});

const rightShape = {
  /** The measure: the run's own reward, or a match of the answer with the references. */
  by: z.enum(["reward", "exact-match", "token-f1", "cover"]).default("reward"),
  /** Smallest measure that counts as right. */
  atLeast: z.number().default(1),
};

type Right = z.output<z.ZodObject<typeof rightShape>>;

const MEASURES = { "exact-match": exactMatch, "token-f1": tokenF1, cover: coverExactMatch };

function isRight({ trajectory }: Candidate, task: Task, right: Right): boolean | null {
  const { reward, answer } = trajectory;
  if (right.by === "reward") return reward === null ? null : reward >= right.atLeast;
  return MEASURES[right.by](answer ?? "", task.references) >= right.atLeast;
}

export const correct = defineGate({
  name: "correct",
  summary:
    "Drops wrong trajectories: the reward, or the answer's match with the references, is too low.",
  source: "rejection sampling, as in START (arXiv 2503.04625) and Tool-Star (arXiv 2505.16410)",
  options: z.strictObject(rightShape),
  why(candidate, task, { settings }) {
    const right = isRight(candidate, task, settings);
    if (right === null) return "not scored";
    return right ? null : "wrong answer";
  },
});

export const searched = defineGate({
  name: "searched",
  summary: "Drops trajectories with too few or too many searches.",
  options: z
    .strictObject({
      /** Tool calls of the main line. */
      atLeast: z.int().min(0).default(1),
      atMost: z.int().min(0).optional(),
    })
    .refine(({ atLeast, atMost }) => atMost === undefined || atLeast <= atMost, {
      path: ["atMost"],
      message: "expected at least atLeast",
    }),
  why({ trajectory }, _task, { settings: { atLeast, atMost = Infinity } }) {
    const calls = mainTurns(trajectory).reduce((sum, turn) => sum + callsOf(turn).length, 0);
    if (calls < atLeast) return calls === 0 ? "no search" : "too few searches";
    return calls > atMost ? "too many searches" : null;
  },
});

export const mostCalls = defineGate({
  name: "most-calls",
  kind: "filter",
  summary: "Drops trajectories with too many tool calls.",
  source: "Tool-Star, arXiv 2505.16410: quality normalisation, more than 5 calls",
  options: z.strictObject({
    /** Most tool calls of the main line. */
    calls: z.int().min(0).default(5),
  }),
  why({ trajectory }, _task, { settings }) {
    const calls = mainTurns(trajectory).reduce((sum, turn) => sum + callsOf(turn).length, 0);
    return calls > settings.calls ? "too many calls" : null;
  },
});

/** Gives all candidates of a question its share of right answers as `pass-rate`; put it before gates that drop wrong candidates. */
export const passRate = defineStep({
  name: "pass-rate",
  kind: "filter",
  summary:
    "Keeps questions for which a share of the draws is right, and records the share as a score.",
  source:
    "CoRT, arXiv 2506.09820: problems that 1 of 8 draws solves; SwS, arXiv 2506.08989, and Tool-Star, arXiv 2505.16410: difficulty",
  options: z
    .strictObject({
      /** Name of the draw that counts; absent: all. */
      draw: z.string().min(1).optional(),
      /** Shares of right candidates that a question may have, both included. */
      min: z.number().min(0).max(1).default(0),
      max: z.number().min(0).max(1).default(1),
      ...rightShape,
    })
    .refine(({ min, max }) => min <= max, { path: ["max"], message: "expected at least min" }),
  open: (settings) => ({
    apply({ task, candidates }) {
      const { draw, min, max } = settings;
      const verdicts = candidates
        .filter(({ provenance }) => draw === undefined || provenance.draw.name === draw)
        .map((each) => isRight(each, task, settings))
        .filter((verdict) => verdict !== null);
      const all = (reason: string) => ({
        kept: [],
        dropped: candidates.map(({ id }) => ({ id, reason })),
      });
      if (verdicts.length === 0) return all("not scored");
      const rate = verdicts.filter(Boolean).length / verdicts.length;
      if (rate < min) return all("too hard");
      if (rate > max) return all("too easy");
      const kept = candidates.map((each) => ({
        ...each,
        scores: { ...each.scores, "pass-rate": rate },
      }));
      return { kept, dropped: [] };
    },
  }),
});

/** Put it before gates that drop wrong candidates. A question without a candidate of the other draw is dropped: it may be solved there. */
export const solvedOnlyBy = defineStep({
  name: "solved-only-by",
  kind: "filter",
  summary: "Keeps one draw's right answers to questions that another draw did not solve.",
  source:
    "START, arXiv 2503.04625: active selection, problems that Hint-infer solves and greedy decoding does not",
  options: z
    .strictObject({
      /** Name of the draw whose candidates are kept. */
      draw: z.string().min(1),
      /** Name of the draw that must not solve the question. */
      not: z.string().min(1),
      ...rightShape,
    })
    .refine(({ draw, not }) => draw !== not, {
      path: ["not"],
      message: "expected a draw other than `draw`",
    }),
  open: (settings) => ({
    apply({ task, candidates }) {
      const others = candidates.filter(({ provenance }) => provenance.draw.name === settings.not);
      const solved = others.some((each) => isRight(each, task, settings) === true);
      return sortedOut(candidates, (candidate) => {
        const { name } = candidate.provenance.draw;
        if (name === settings.not) return "compared with";
        if (name !== settings.draw) return "another draw";
        if (others.length === 0) return "nothing to compare with";
        if (solved) return "solved by both";
        return isRight(candidate, task, settings) === true ? null : "wrong answer";
      });
    },
  }),
});

/** Keeps right direct answers, else right answers with tools, else nothing. Put it before gates that drop wrong candidates. */
export const toolNeed = defineStep({
  name: "tool-need",
  kind: "filter",
  summary: "Keeps answers without tools if they suffice, else answers with tools.",
  source: "Tool-Star, arXiv 2505.16410: difficulty-aware split of the cold start",
  options: z
    .strictObject({
      /** Name of the draw that answers without tools. */
      direct: z.string().min(1),
      /** Name of the draw that may call them. */
      tool: z.string().min(1),
      ...rightShape,
    })
    .refine(({ direct, tool }) => direct !== tool, {
      path: ["tool"],
      message: "expected a draw other than `direct`",
    }),
  open: (settings) => ({
    apply({ task, candidates }) {
      const right = new Set(candidates.filter((each) => isRight(each, task, settings) === true));
      const solvedBy = (draw: string): boolean =>
        [...right].some(({ provenance }) => provenance.draw.name === draw);
      const keeps = [settings.direct, settings.tool].find(solvedBy);
      return sortedOut(candidates, (candidate) => {
        const { name } = candidate.provenance.draw;
        if (name !== settings.direct && name !== settings.tool) return "another draw";
        if (keeps === undefined) return "solved by neither";
        if (!right.has(candidate)) return "wrong answer";
        return name === keeps ? null : "tools not needed";
      });
    },
  }),
});
