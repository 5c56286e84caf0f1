import { seedFrom } from "../base/random.ts";
import { ConfigError } from "../base/errors.ts";
import type { Protocol } from "../env/protocols/protocol.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { openStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { environmentOver, openNamedDataset, type PolicyDownload } from "./assemble.ts";
import { spelledWords } from "./checks/spelled-words.ts";
import { openRoles, type RoleOptions } from "./roles.ts";
import { resolvePolicy } from "./resolve-policy.ts";
import { searchedForEvaluation } from "./run-eval.ts";
import type { Settings } from "./settings/settings-schema.ts";

export interface AskOptions {
  /** Index folder to search; without it BM25 in memory over the dataset's own passages. */
  index?: string;
  signal: AbortSignal;
  /** Progress of a policy's download. */
  download?: PolicyDownload;
}

/** A policy that answers questions one by one, as an evaluation of the same settings would. */
export interface AskSession {
  readonly protocol: Protocol;
  /** Title of a passage that a search has shown; undefined: unknown. */
  readonly titleOf: (passage: string) => string | undefined;
  /** Words of a question that the policy's small vocabulary must spell letter by letter. */
  unknownWords(question: string): string[];
  /** @param onTurn receives the record so far after each turn. */
  ask(question: string, onTurn?: (trajectory: Trajectory) => void): Promise<Trajectory>;
  close(): Promise<void>;
}

/**
 * Opens the policy, its environment and its search for questions.
 * @throws {ConfigError} USAGE for a file of answers, which answers no new question; as `runEval`.
 */
export async function openAskSession(
  settings: Settings,
  { index, signal, download }: AskOptions,
): Promise<AskSession> {
  const { evaluation, seed, policy: named } = settings;
  if (named.predictions !== undefined) {
    throw new ConfigError(
      "USAGE",
      `--policy is ${named.predictions.file}, a file of answers: it cannot answer a new question. Name a model or a server.`,
    );
  }
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  try {
    const tested = await resolvePolicy(settings, { ...download, signal });
    const dataset = await openNamedDataset(evaluation.dataset, settings.environment);
    const retriever = await searchedForEvaluation(dataset, settings, index);
    closing.push(() => retriever.close());
    const titles = new Map<string, string>();
    const held: RoleOptions = { download: { ...download, signal } };
    const roles = openRoles(settings, held);
    closing.push(() => roles.close());
    const environment = environmentOver(
      withTitles(retriever, titles),
      settings,
      "evaluation",
      roles,
    );
    const opened = await tested.open(environment);
    closing.push(() => opened.close());
    if (opened.held !== undefined) held.policy = opened.held;
    const { policy } = opened;
    if (typeof policy === "function") throw new TypeError("a file of answers was refused above");
    const strategy = openStrategy(evaluation.strategy, "evaluation.strategy");
    let asked = 0;
    return {
      protocol: environment.protocol,
      titleOf: (passage) => titles.get(passage),
      unknownWords: (question) =>
        "open" in policy ||
        (opened.held?.engine.capabilities.vocabSize ?? Infinity) > SMALL_VOCABULARY
          ? []
          : spelledWords(question, policy.tokenizer),
      ask(question, onTurn) {
        asked += 1;
        const id = `question-${asked}`;
        const task = { id, question, references: [], source: "ask", annotations: {} };
        return strategy.run({
          policy,
          environment,
          roles,
          task,
          signal,
          sampling: evaluation.sampling,
          id,
          groupId: id,
          purpose: "eval",
          seed: seedFrom(seed, "ask", question),
          clock: () => performance.now(),
          onTurn,
        });
      },
      close,
    };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** The same retriever; it also notes the titles of its hits. */
function withTitles<R extends Retriever>(retriever: R, titles: Map<string, string>): R {
  return {
    ...retriever,
    async search(...request) {
      const found = await retriever.search(...request);
      for (const { id, title } of found.flat()) titles.set(id, title);
      return found;
    },
  };
}

/** Vocabularies of real models have at least 10,000 entries. */
const SMALL_VOCABULARY = 5000;
