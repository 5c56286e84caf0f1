/** What a judge is asked about. */
export interface JudgeCase {
  question: string;
  /** Accepted answers, at least one. */
  references: readonly string[];
  /** The answer to be judged. */
  prediction: string;
}
