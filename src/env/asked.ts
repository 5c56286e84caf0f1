import type { PlannedMessage } from "./protocols/protocol.ts";
import type { ShownPassage } from "../trajectory/passages.ts";

/** A question with the answer that was found. */
export interface AnsweredQuestion {
  question: string;
  answer: string;
}

/**
 * What a strategy's own prompt asks for, as facts. A model reads the prompt; a scripted policy replies by these facts. `write` gives a reply
 * the form that the strategy reads.
 */
export type Asked =
  /** The questions to answer first, in order. */
  | { for: "plan"; write: (questions: readonly string[]) => string }
  /** The next question to look up; an empty message: nothing is missing. */
  | { for: "next-question"; known: readonly AnsweredQuestion[] }
  /** Whether a question must be looked up. */
  | { for: "need"; write: (isNeeded: boolean) => string }
  /** A query for a question. */
  | { for: "query"; question: string; failed: readonly string[] }
  /** The numbers of passages, the best first. */
  | { for: "order"; question: string; passages: readonly ShownPassage[] }
  /** The short answer that passages give, or the text that says they do not. */
  | { for: "sub-answer"; question: string; passages: readonly ShownPassage[]; unknown: string }
  /** Whether an answer to a question is supported. */
  | { for: "verdict"; answered: AnsweredQuestion; write: (isSupported: boolean) => string }
  /** A thought with an action; after `thought` the action alone. */
  | { for: "step"; write: (message: PlannedMessage) => string }
  /** The answer to the main question, in the protocol's grammar. */
  | { for: "answer"; known: readonly AnsweredQuestion[] };
