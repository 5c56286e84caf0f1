import { registry } from "../base/registry.ts";
import { answerLikelihood } from "./answer-likelihood.ts";
import { citationSet } from "./citation-set.ts";
import { coverEm } from "./cover-em.ts";
import { environment } from "./environment.ts";
import { evidenceRecall } from "./evidence-recall.ts";
import { exactMatch } from "./exact-match.ts";
import { queryConfidence } from "./query-confidence.ts";
import { retrievalHit } from "./retrieval-hit.ts";
import type { Reward } from "./reward.ts";
import { tagFormat } from "./tag-format.ts";
import { tokenF1 } from "./token-f1.ts";
import { toolOutcome } from "./tool-outcome.ts";

/** All rewards. */
export const rewards = registry<Reward>("reward", [
  answerLikelihood,
  citationSet,
  coverEm,
  environment,
  evidenceRecall,
  exactMatch,
  queryConfidence,
  retrievalHit,
  tagFormat,
  tokenF1,
  toolOutcome,
]);
