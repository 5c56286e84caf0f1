import { registry } from "../base/registry.ts";
import type { Reward } from "./reward.ts";

/** All rewards. */
export const rewards = registry<Reward>("reward", {
  "answer-likelihood": async () => (await import("./answer-likelihood.ts")).answerLikelihood,
  "citation-set": async () => (await import("./citation-set.ts")).citationSet,
  "cover-em": async () => (await import("./cover-em.ts")).coverEm,
  distillation: async () => (await import("./distillation.ts")).distillation,
  environment: async () => (await import("./environment.ts")).environment,
  "evidence-recall": async () => (await import("./evidence-recall.ts")).evidenceRecall,
  "exact-match": async () => (await import("./exact-match.ts")).exactMatch,
  http: async () => (await import("./http.ts")).http,
  "information-gain": async () => (await import("./information-gain.ts")).informationGain,
  judge: async () => (await import("./judge.ts")).judge,
  "math-verify": async () => (await import("./math-verify.ts")).mathVerify,
  "parts-match": async () => (await import("./parts-match.ts")).partsMatch,
  "passes-tests": async () => (await import("./passes-tests.ts")).passesTests,
  "query-confidence": async () => (await import("./query-confidence.ts")).queryConfidence,
  "query-keywords": async () => (await import("./query-keywords.ts")).queryKeywords,
  "retrieval-hit": async () => (await import("./retrieval-hit.ts")).retrievalHit,
  "search-gain": async () => (await import("./search-gain.ts")).searchGain,
  "sentence-factuality": async () => (await import("./sentence-factuality.ts")).sentenceFactuality,
  "small-judge": async () => (await import("./small-judge.ts")).smallJudge,
  "strict-match": async () => (await import("./strict-match.ts")).strictMatch,
  "sub-answers": async () => (await import("./sub-answers.ts")).subAnswers,
  "tag-format": async () => (await import("./tag-format.ts")).tagFormat,
  "tag-share": async () => (await import("./tag-share.ts")).tagShare,
  "token-f1": async () => (await import("./token-f1.ts")).tokenF1,
  "tool-count": async () => (await import("./tool-count.ts")).toolCount,
  "tool-outcome": async () => (await import("./tool-outcome.ts")).toolOutcome,
});
