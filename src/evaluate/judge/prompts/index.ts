import { registry } from "../../../base/registry.ts";
import type { JudgePrompt } from "../judge-prompt.ts";
import { contained } from "./contained.ts";
import { equivalence } from "./equivalence.ts";
import { equivalenceBlind } from "./equivalence-blind.ts";
import { equivalenceStrict } from "./equivalence-strict.ts";
import { graded } from "./graded.ts";
import { threeWay } from "./three-way.ts";

/** Every way to ask a judge, the default first. */
export const judgePrompts = registry<JudgePrompt>("judge prompt", [
  equivalence,
  equivalenceStrict,
  equivalenceBlind,
  contained,
  threeWay,
  graded,
]);
