import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Action, Observation, Problem } from "../../trajectory/trajectory.ts";
import type { AnswerRule } from "../answer-rule.ts";

/** What one message asked for. Parsing never throws: what is wrong becomes a problem, and `onInvalid` decides. */
export interface ParsedMessage {
  actions: Action[];
  problems: Problem[];
}

/** A grammar between a policy and its environment: how prompts, calls, observations and answers are written as text. */
export interface Protocol {
  /** Texts after which the model need not write on: whatever it wrote would be cut. */
  readonly stopStrings: readonly string[];
  /** Where a message ends for the environment (exclusive); null keeps all. Cutting is not stopping. */
  findCut(text: string): number | null;
  parse(text: string): ParsedMessage;
  /** What a message's observations look like to the policy. */
  renderObservations(observations: readonly Observation[]): string;
  /** What a message with problems is answered. */
  renderProblems(problems: readonly Problem[]): string;
  /** Shows passages in a prompt, for strategies that search before they ask. */
  renderContext(observation: Observation): string;
  /** Opens an answer, for strategies that force one. */
  readonly answerOpening: string;
  readonly answer: AnswerRule;
}

/** A protocol that a recipe can name. */
export interface ProtocolPart extends PartWithOptions {
  readonly source: string;
  create(options: unknown): Protocol;
}
