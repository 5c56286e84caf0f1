import { type PartLoader, registry } from "../../base/registry.ts";
import type { Strategy } from "./strategy.ts";

/** Strategies that answer once; those over several answers draw from them. */
const loaders: Readonly<Record<string, PartLoader<Strategy>>> = {
  agent: async () => (await import("./agent.ts")).agent,
  direct: async () => (await import("./direct.ts")).direct,
  rag: async () => (await import("./rag.ts")).rag,
  given: async () => (await import("./given.ts")).given,
  cot: async () => (await import("./cot.ts")).cot,
  ircot: async () => (await import("./ircot.ts")).ircot,
  "iter-retgen": async () => (await import("./iter-retgen.ts")).iterRetgen,
  react: async () => (await import("./react.ts")).react,
  "search-o1": async () => (await import("./search-o1.ts")).searchO1,
  "self-consistent-actions": async () =>
    (await import("./self-consistent-actions.ts")).selfConsistentActions,
  "hint-infer": async () => (await import("./hint-infer.ts")).hintInfer,
  corag: async () => (await import("./corag.ts")).corag,
  "best-of-n": async () => (await import("./best-of-n.ts")).bestOfN,
  "tree-search": async () => (await import("./tree-search.ts")).treeSearch,
  "tree-rollout": async () => (await import("./tree-rollout.ts")).treeRollout,
  composerag: async () => (await import("./composerag.ts")).composerag,
};

const single = registry("strategy", loaders);

/** All inference strategies. */
export const strategies = registry<Strategy>("strategy", {
  ...loaders,
  external: async () => (await import("./external.ts")).external,
  "self-consistency": async () => (await import("./self-consistency.ts")).selfConsistency(single),
});
