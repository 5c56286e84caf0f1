import { registry } from "../../base/registry.ts";
import { answerReflection, beforeAnswer } from "./at-answer.ts";
import { afterConnective, afterResult, beforeGuess, uncertainty } from "./at-phrases.ts";
import { firstThought, opening, withheld } from "./before-message.ts";
import type { HintPart } from "./hint.ts";

/** All hints. */
export const hints = registry<HintPart>("hint", [
  opening,
  firstThought,
  afterConnective,
  uncertainty,
  beforeGuess,
  beforeAnswer,
  answerReflection,
  afterResult,
  withheld,
]);
