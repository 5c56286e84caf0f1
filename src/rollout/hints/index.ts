import { registry } from "../../base/registry.ts";
import { afterConnective } from "./after-connective.ts";
import { afterResult } from "./after-result.ts";
import { answerReflection } from "./answer-reflection.ts";
import { beforeAnswer } from "./before-answer.ts";
import { beforeGuess } from "./before-guess.ts";
import { firstThought } from "./first-thought.ts";
import type { HintPart } from "./hint.ts";
import { opening } from "./opening.ts";
import { uncertainty } from "./uncertainty.ts";
import { withheld } from "./withheld.ts";

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
