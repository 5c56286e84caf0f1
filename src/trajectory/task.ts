import type { Segment } from "./trajectory.ts";

/** A unit of a corpus that a retriever returns whole. */
export interface Passage {
  id: string;
  /** May be empty. */
  title: string;
  text: string;
  /** The text sentence by sentence, where the source gives it; `supportingFacts` counts these. */
  sentences?: string[];
  /** The store that it comes from, where a corpus has several. */
  source?: string;
}

/** A question with its accepted answers, or another beginning of an episode. */
export interface Task {
  id: string;
  /** What the policy is asked; the empty string where the environment alone says how an episode begins. */
  question: string;
  /** Accepted answers, any of which counts; none where the environment scores what was done. */
  references: string[];
  source: string;
  annotations: TaskAnnotations;
  /** Given messages, in order: the rollout replays their actions and continues after the last. */
  prefix?: readonly PrefixMessage[];
}

/** A given first message of an episode. Tokens of owner "policy" may be trained; others never are. */
export interface PrefixMessage {
  text: string;
  owner: Extract<Segment["owner"], "policy" | "inserted">;
}

/** One step from a question to its answer. */
export interface SolutionStep {
  question: string;
  answer: string;
  /** Id of the passage that tells it. */
  passage: string | null;
  /** What computes the answer, with #1, #2 for earlier answers: "#1 + 17". */
  expression?: string;
}

/** Gold annotations beside the answers. Every field is optional: a reward or metric that needs an absent field skips the task. */
export interface TaskAnnotations {
  /** Kind of question as its dataset names it: "bridge", "comparison", "yes-no", … */
  type?: string;
  /** Difficulty as its dataset counts it: 1 to 5 (MATH). */
  level?: number;
  /** Passages that must be read in sequence or together to answer. */
  hops?: number;
  /** Ids of the passages that together answer the question, in order of the chain where there is one. */
  supportingPassages?: string[];
  /** Sentences that together answer the question. */
  supportingFacts?: { title: string; sentence: number }[];
  /** The question's own passages (distractor setting). */
  context?: Passage[];
  /** Steps to the answer; `question` may use #1, #2 for earlier answers; `answer` is empty where the dataset has none (StrategyQA). */
  decomposition?: SolutionStep[];
  /** Other right ways to the same answer (number world). */
  routes?: SolutionStep[][];
  /** Accepted answers of each question that a composed one consists of, in order (dataset `composed`). */
  parts?: string[][];
  /** Skills that the question needs: "division", "years" (number world). */
  concepts?: string[];
  /** Part of the pool that the question was drawn for: "easy", "impossible", "mislabelled", … For tests and analysis only. */
  stratum?: string;
  duplicateOf?: string;
  /** Queries for each step (of `decomposition`, else `evidences`), the best first. Found by `synth-data` (docs/synthesis.md). */
  searchTerms?: string[][];
  /** Triples that together answer the question (2WikiMultihopQA). */
  evidences?: { subject: string; relation: string; object: string }[];
  /** Sentences that are in no passage and from which the answer follows (StrategyQA). */
  facts?: string[];
  /** False if the question's own passages do not contain the answer (MuSiQue-Full); otherwise absent. */
  answerable?: boolean;
  /** The store (`Passage.source`) of each step of the decomposition, where the corpus has several. */
  route?: string[];
  /** The part of a mixture that the question is of, and that part's share of each batch, in any sum (dataset `joined` with `weights`). */
  mixture?: { part: string; weight: number };
  /** Annotations of the user's own, as a question file or a plugin has them. */
  [own: string]: unknown;
}

/**
 * What each step asks, with the answers of earlier steps in place of #1, #2. A mark whose answer is not known stays.
 * @example birthplace of Ibsen (answer: Skien), mayor of #1 → birthplace of Ibsen, mayor of Skien
 */
export function stepQuestions(
  steps: readonly Pick<SolutionStep, "question" | "answer">[],
): string[] {
  return steps.map(({ question }) =>
    question.replace(/#(\d+)/g, (mark, number: string) => {
      const before = steps[Number(number) - 1]?.answer ?? "";
      return before === "" ? mark : before;
    }),
  );
}
