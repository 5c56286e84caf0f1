import { type Registry, registry } from "../../base/registry.ts";
import type { Strategy } from "./strategy.ts";

/** All inference strategies. */
export const strategies: Registry<Strategy> = registry("strategy", {
  agent: async () => (await import("./agent.ts")).agent,
  direct: async () => (await import("./answer-once.ts")).direct,
  rag: async () => (await import("./answer-once.ts")).rag,
  given: async () => (await import("./given.ts")).given,
  cot: async () => (await import("./answer-once.ts")).cot,
  ircot: async () => (await import("./ircot.ts")).ircot,
  "iter-retgen": async () => (await import("./iter-retgen.ts")).iterRetgen,
  react: async () => (await import("./react.ts")).react,
  "search-o1": async () => (await import("./search-o1.ts")).searchO1,
  "self-consistent-actions": async () =>
    (await import("./self-consistent-actions.ts")).selfConsistentActions,
  "hint-infer": async () => (await import("./hint-infer.ts")).hintInfer,
  corag: async () => (await import("./corag.ts")).corag,
  "best-of-n": async () => (await import("./best-of-n.ts")).bestOfN,
  "entropy-branching": async () => (await import("./entropy-branching.ts")).entropyBranching,
  "tree-search": async () => (await import("./tree-search.ts")).treeSearch,
  "tree-rollout": async () => (await import("./tree-rollout.ts")).treeRollout,
  composerag: async () => (await import("./composerag.ts")).composerag,
  external: async () => (await import("./external.ts")).external,
  "self-consistency": async () =>
    (await import("./self-consistency.ts")).selfConsistency(strategies),
});
