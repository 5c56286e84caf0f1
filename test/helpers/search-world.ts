import { budgetsSchema } from "../../src/env/budget.ts";
import type { Environment } from "../../src/env/environments/environment.ts";
import { tools } from "../../src/env/tools/index.ts";
import { openToolbox, toolsSchema } from "../../src/env/tools/toolbox.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { type TokenPolicy, scriptedPolicy } from "../../src/rollout/policy.ts";
import type { RolloutOptions } from "../../src/rollout/record.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import type { TokenizerFiles } from "../../src/text/tokenizer-files.ts";
import { type Tokenizer, makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import type { Passage, Task } from "../../src/trajectory/task.ts";
import type { Observation, Segment, Trajectory } from "../../src/trajectory/trajectory.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "./all-parts.ts";

export const passages: Passage[] = [
  { id: "oslo", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "bergen", title: "Bergen", text: "Bergen is a city in Norway with much rain." },
  { id: "lima", title: "Lima", text: "Lima is the capital of Peru." },
  { id: "grieg", title: "Grieg", text: "Grieg was a composer, born in Bergen." },
  { id: "ibsen", title: "Ibsen", text: "Ibsen wrote plays, among them Peer Gynt." },
];

export const task: Task = {
  id: "capital",
  question: "What is the capital of Norway?",
  references: ["Oslo"],
  source: "test",
  annotations: {},
};

/** The five passages in memory. */
export const corpus: Retriever = buildBm25(passages);

/** The files of a tokenizer with a token for each tag of the search-r1 grammar, for further texts and a few words. */
export function tagTokenizerFiles(...further: string[]): TokenizerFiles {
  const tags = ["think", "search", "information", "answer"].flatMap((tag) => [
    `<${tag}>`,
    `</${tag}>`,
  ]);
  return wordTokenizer({
    words: [" Oslo", " capital", " Norway", " the", " of", " is"],
    // Longer texts first: where two match, the first one listed is taken.
    specials: ["<|end|>", "<|pad|>", ...further, ...tags],
  });
}

export function tagTokenizer(...further: string[]): Tokenizer {
  const files = tagTokenizerFiles(...further);
  return makeTokenizer(files.tokenizer, files.config, "test");
}

export const tokenizer = tagTokenizer();

/** The search-qa environment over the five passages; shows one passage per search. */
export function searchEnvironment(
  options: Record<string, unknown> = {},
  retriever: Retriever = corpus,
): Environment {
  const tools = [{ name: "corpus-search", topK: 1 }];
  const { budgets, ...own } = options;
  return environments
    .get("search-qa", "test")
    .create({ tools, ...own }, { retriever, budgets: budgetsSchema.parse(budgets ?? []) });
}

/** What a tool of a recipe gives for an input, called in an episode of its own. */
export function callTool(
  settings: { name: string } & Record<string, unknown>,
  input: string,
  { retriever = corpus, asked = task, signal = new AbortController().signal } = {},
): Promise<Observation> {
  const [checked] = toolsSchema.parse([settings]);
  const name = checked?.as ?? tools.get(settings.name, "test").action;
  return openToolbox(checked === undefined ? [] : [checked], { retriever })
    .open({ trajectoryId: "one", task: asked, seed: 1 })
    .call({ tool: name, input }, { turn: 0, signal });
}

/** A policy that writes these messages in turn, whatever it is shown. */
export function replay(messages: readonly string[], using: Tokenizer = tokenizer): TokenPolicy {
  return scriptedPolicy(using, ({ turns }) => messages[turns.length] ?? "");
}

export function rolloutOptions(
  changes: Partial<RolloutOptions> & Pick<RolloutOptions, "policy">,
): RolloutOptions {
  return {
    environment: searchEnvironment(),
    task,
    id: "one",
    groupId: "group",
    purpose: "train",
    seed: 1,
    sampling: GREEDY,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A trajectory for reading: one line per segment, and how it ended. */
export function readable(trajectory: Trajectory, using: Tokenizer = tokenizer): string {
  const line = ({ owner, ids }: Segment): string =>
    `  ${owner}: ${JSON.stringify(using.decode(ids))}`;
  return [
    ...trajectory.calls.flatMap(({ parent, prompt, completion, finish }, index) => [
      `call ${index} after ${parent ?? "nothing"}, ${finish}`,
      ...[...prompt, ...completion].map(line),
    ]),
    `${trajectory.end}, answer ${JSON.stringify(trajectory.answer)}`,
  ].join("\n");
}

/** A trajectory that ended with an answer and was never played. */
export function answered(answer: string | null, changes: Partial<Trajectory> = {}): Trajectory {
  return {
    id: "one",
    taskId: task.id,
    groupId: "group",
    purpose: "train",
    seed: 1,
    calls: [],
    turns: [],
    answer,
    end: answer === null ? "turn-limit" : "answered",
    rewards: [],
    reward: null,
    ...changes,
  };
}
