import { registry } from "../../base/registry.ts";
import { agent } from "./agent.ts";
import { bestOfN } from "./best-of-n.ts";
import { composerag } from "./composerag.ts";
import { corag } from "./corag.ts";
import { cot } from "./cot.ts";
import { direct } from "./direct.ts";
import { external } from "./external.ts";
import { given } from "./given.ts";
import { hintInfer } from "./hint-infer.ts";
import { ircot } from "./ircot.ts";
import { rag } from "./rag.ts";
import { iterRetgen } from "./iter-retgen.ts";
import { react } from "./react.ts";
import { searchO1 } from "./search-o1.ts";
import { selfConsistency } from "./self-consistency.ts";
import { selfConsistentActions } from "./self-consistent-actions.ts";
import type { Strategy } from "./strategy.ts";
import { treeRollout } from "./tree-rollout.ts";
import { treeSearch } from "./tree-search.ts";

/** Strategies that answer once; those over several answers draw from them. */
const single = registry<Strategy>("strategy", [
  agent,
  direct,
  rag,
  given,
  cot,
  ircot,
  iterRetgen,
  react,
  searchO1,
  selfConsistentActions,
  hintInfer,
  corag,
  bestOfN,
  treeSearch,
  treeRollout,
  composerag,
]);

/** All inference strategies. */
export const strategies = registry<Strategy>("strategy", [
  ...single.parts,
  external,
  selfConsistency(single),
]);
