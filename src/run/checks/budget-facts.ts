import { AgentrlError } from "../../base/errors.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import { firstPrompt } from "../../env/environments/environment.ts";
import type { Rendering } from "../../rollout/chat-rendering.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Passage } from "../../trajectory/task.ts";
import { environmentOver } from "../assemble.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { SAMPLED_QUESTIONS, spelledShare } from "./spelled-words.ts";

/** Facts of a dataset that budgets are compared with, in the policy's tokens. */
export interface BudgetFacts {
  /** Of the model. */
  maxPositions: number;
  /** Questions to train on; null where they are not counted. */
  questions: number | null;
  /** Null where there is no tokenizer to count with. */
  tokens: TokenFacts | null;
}

/** Tokens of a sample. */
export interface TokenFacts {
  /** First prompts. */
  prompts: number[];
  /** Messages that say nothing but an accepted answer, the shortest of a question; none where the environment takes no answers. */
  answers: number[];
  /** What a search shows, uncut: as many passages of the dataset's own corpus as it would show; none where it has no corpus. */
  observations: number[];
  /** Share of the words of questions with accepted answers that the policy must spell letter by letter. */
  spelled: number;
}

/** Passages that are looked at. */
const SAMPLED_PASSAGES = 512;
/** Passages are taken from the beginning of the corpus, one in so many. */
const EVERY = 5;
/** Above it, questions are not counted: a step has fewer. */
const COUNTED_QUESTIONS = 10_000;

/**
 * Looks at a sample of a dataset's questions and passages as the recipe's own environment shows them.
 *
 * @param policy.rendering how text is put to it; undefined: as it is.
 * @throws what opening the dataset's files throws.
 */
export async function budgetFacts(
  settings: Settings,
  dataset: Dataset,
  policy: { maxPositions: number; tokenizer: Tokenizer; rendering?: Rendering | undefined },
): Promise<BudgetFacts> {
  const passages = await sampledPassages(dataset);
  const environment = environmentOver(sampleRetriever(passages), settings);
  const { protocol, toolSchemas } = environment;
  const { tokenizer, rendering, maxPositions } = policy;
  const count = (text: string): number => tokenizer.encode(text).length;
  const tasks = await dataset.tasks(SAMPLED_QUESTIONS);
  const answerOf = (input: string): number =>
    count(protocol.write({ thought: "", action: { tool: "answer", input } }, toolSchemas));
  const observations: number[] = [];
  const { searching, answers } = environment;
  if (searching !== undefined && passages.length > 0) {
    const { signal } = new AbortController();
    for (const task of tasks) {
      const found = await searching.search(task.question, { task }, signal);
      observations.push(count(protocol.renderObservations([found])));
    }
  }
  return {
    maxPositions,
    questions: await questionCount(dataset),
    tokens: {
      prompts: tasks.map((task) => {
        const text = firstPrompt(environment, task);
        return count(rendering?.opening(text) ?? text);
      }),
      answers: answers
        ? tasks.flatMap(({ references }) =>
            references.length === 0 ? [] : [Math.min(...references.map(answerOf))],
          )
        : [],
      observations,
      spelled: spelledShare(tasks, tokenizer),
    },
  };
}

/** Codes of a file of questions, and of a published dataset, without passages of their own. */
const WITHOUT_PASSAGES: readonly string[] = ["DATA_LAYOUT_UNKNOWN", "DATASET_ABSENT"];

/** None where the dataset is questions alone, which are searched for elsewhere. */
async function sampledPassages(dataset: Dataset): Promise<Passage[]> {
  const sampled: Passage[] = [];
  let at = 0;
  try {
    for await (const passage of dataset.passages()) {
      if (at++ % EVERY === 0) sampled.push(passage);
      if (sampled.length === SAMPLED_PASSAGES) break;
    }
  } catch (error) {
    if (!(error instanceof AgentrlError) || !WITHOUT_PASSAGES.includes(error.code)) throw error;
    return [];
  }
  return sampled;
}

/** Finds the next passages of a sample, whatever is asked. */
function sampleRetriever(passages: readonly Passage[]): Retriever {
  let at = 0;
  const next = (k: number) =>
    Array.from({ length: Math.min(k, passages.length) }, (_, i) => {
      const passage = passages[at++ % passages.length] ?? { id: "", title: "", text: "" };
      return { ...passage, score: 1 / (i + 1) };
    });
  return {
    name: "sample",
    fingerprint: "sample",
    search: (queries, k) => Promise.resolve(queries.map(() => next(k))),
    close: () => Promise.resolve(),
  };
}

async function questionCount(dataset: Dataset): Promise<number | null> {
  let count = 0;
  for await (const _ of dataset.stream(COUNTED_QUESTIONS)) count += 1;
  return count < COUNTED_QUESTIONS ? count : null;
}
