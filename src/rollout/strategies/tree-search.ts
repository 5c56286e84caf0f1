import { z } from "../../base/schema.ts";
import { type PromptSession, requireLogprobs, withPrompts } from "../prompt-session.ts";
import {
  type ChainLink,
  type ProposedQuery,
  answerFromChain,
  answerQuery,
  chainPenalty,
  chainShape,
  extendChain,
  isAsked,
  proposeQuery,
} from "../retrieval-chain.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  ...chainShape,
  /** Continuations of each chain. */
  expand: z.int().min(1).default(4),
  /** Chains kept after each step. */
  beam: z.int().min(1).default(1),
  /** Rollouts to judge a chain. */
  rollouts: z.int().min(1).default(2),
  /** Most further steps of these rollouts. */
  lookahead: z.int().min(0).default(2),
  /** Temperature of all queries. */
  temperature: z.number().positive().default(0.7),
});

/** Queries drawn per needed query: repeated ones are dropped. */
const SPARE = 1.5;

/**
 * Breadth first: each chain is continued by several queries, judged by the mean penalty of rollouts of a few more steps; the best are kept.
 * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS before anything is asked.
 */
export const treeSearch = defineStrategy({
  name: "tree-search",
  summary: "CoRAG's tree of retrieval chains: expanded step by step, judged by rollouts.",
  source: "CoRAG, arXiv 2501.14342, section 3: tree search",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options,
  example: { settings: { steps: 2, expand: 2, lookahead: 1 } },
  run: (rollout, settings) =>
    withPrompts(rollout, async (session) => {
      requireLogprobs(rollout.policy, "Use best-of-n with evaluation.strategy.pick: votes.");
      const { question } = rollout.task;
      let beam: ChainLink[][] = [[]];
      for (let step = 1; step <= settings.steps; step++) {
        const search = { ...settings, question, step };
        const grown = await session.branches(
          beam.map((_, i) => `step-${step}/chain-${i + 1}`),
          (branch, i) => expandChain(branch, beam[i] ?? [], search),
        );
        const states = grown.flat();
        if (states.length === 0) break;
        beam = states.length <= settings.beam ? states : await best(session, states, search);
      }
      return answerFromChain(session, question, beam[0] ?? []);
    }),
});

type Search = z.output<typeof options> & { question: string; step: number };

async function expandChain(
  session: PromptSession,
  links: readonly ChainLink[],
  { question, steps, expand, temperature }: Search,
): Promise<ChainLink[][]> {
  const course = { question, steps, sampling: { temperature } };
  const proposed: ProposedQuery[] = [];
  for (let i = 0; i < Math.ceil(expand * SPARE) && proposed.length < expand; i++) {
    const next = await proposeQuery(session, links, course);
    if (next === null) break;
    const taken = proposed.map(({ query }) => ({ query, answer: "" }));
    if (!isAsked(next.query, [...links, ...taken])) proposed.push(next);
  }
  const grown: ChainLink[][] = [];
  for (const each of proposed) grown.push([...links, await answerQuery(session, each)]);
  return grown;
}

async function best(
  session: PromptSession,
  states: readonly ChainLink[][],
  { question, step, steps, beam, rollouts, lookahead, temperature }: Search,
): Promise<ChainLink[][]> {
  const further = Math.min(lookahead, steps - step);
  // Without further steps all rollouts of a chain are the chain itself.
  const count = further === 0 ? 1 : rollouts;
  const judged = states.flatMap((state, s) =>
    Array.from({ length: count }, (_, r) => ({
      state,
      name: `step-${step}/state-${s + 1}.${r + 1}`,
    })),
  );
  const names = judged.map(({ name }) => name);
  const penalties = await session.branches(names, async (branch, i) => {
    const from = judged[i]?.state ?? [];
    const course = { question, steps: from.length + further, sampling: { temperature } };
    return chainPenalty(branch, question, await extendChain(branch, from, course));
  });
  const mean = states.map((_, s) => {
    const own = penalties.slice(s * count, (s + 1) * count);
    return own.reduce((sum, each) => sum + each, 0) / count;
  });
  const order = states.map((_, s) => s).sort((a, b) => (mean[a] ?? 0) - (mean[b] ?? 0) || a - b);
  return order.slice(0, beam).flatMap((s) => states.slice(s, s + 1));
}
