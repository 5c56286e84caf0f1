import { registry } from "../base/registry.ts";
import { answerLikelihood } from "./answer-likelihood.ts";
import { citationSet } from "./citation-set.ts";
import { coverEm } from "./cover-em.ts";
import { distillation } from "./distillation.ts";
import { environment } from "./environment.ts";
import { evidenceRecall } from "./evidence-recall.ts";
import { exactMatch } from "./exact-match.ts";
import { http } from "./http.ts";
import { judge } from "./judge.ts";
import { queryConfidence } from "./query-confidence.ts";
import { queryKeywords } from "./query-keywords.ts";
import { retrievalHit } from "./retrieval-hit.ts";
import type { Reward } from "./reward.ts";
import { searchGain } from "./search-gain.ts";
import { subAnswers } from "./sub-answers.ts";
import { tagFormat } from "./tag-format.ts";
import { tagShare } from "./tag-share.ts";
import { tokenF1 } from "./token-f1.ts";
import { toolCount } from "./tool-count.ts";
import { toolOutcome } from "./tool-outcome.ts";

/** All rewards. */
export const rewards = registry<Reward>("reward", [
  answerLikelihood,
  citationSet,
  coverEm,
  distillation,
  environment,
  evidenceRecall,
  exactMatch,
  http,
  judge,
  queryConfidence,
  queryKeywords,
  retrievalHit,
  searchGain,
  subAnswers,
  tagFormat,
  tagShare,
  tokenF1,
  toolCount,
  toolOutcome,
]);
