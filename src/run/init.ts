import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { makeFolder, writeFileAtomic } from "../base/files.ts";
import { pathFrom } from "../base/setting-path.ts";
import { writeYaml } from "../base/yaml.ts";
import { dataSource } from "../data/data-folder.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Fields } from "../data/fields.ts";
import { readPassages } from "../data/passages.ts";
import { buildIndex } from "../retrieval/bm25/build-index.ts";
import {
  DEFAULT_ASK,
  maskedQuestions,
  questionLines,
  requireQuestions,
} from "../synth/questions/masked-questions.ts";
import { DEFAULT_ANALYZER } from "../text/analyzer.ts";
import { TextSample, suggestAnalyzer } from "../text/suggest-analyzer.ts";
import { loadTokenizer } from "../text/tokenizer.ts";
import type { Task } from "../trajectory/task.ts";
import { openDataset } from "../worlds/open-dataset.ts";
import { baseFolder, policyFolder } from "./assemble.ts";
import { SAMPLED_QUESTIONS, spelledShare, vocabularyProblem } from "./checks/spelled-words.ts";
import { loadRecipe } from "./settings/recipe-file.ts";

/** Who answers: a server's model, or a model that can be trained here. */
export type OwnPolicy =
  | { endpoint: { baseUrl: string; model: string; apiKeyEnv?: string } }
  | { from: string; chat?: Record<string, never> };

/** The user's own data and policy. */
export interface OwnProject {
  /** Folder of the recipe and the index. */
  folder: string;
  /** Question file; undefined: questions are made from the passages, which are named then. */
  questions?: string;
  /** File or folder of passages; undefined: the questions' own contexts. */
  passages?: string;
  fields: Fields;
  policy: OwnPolicy;
  /** Of the index; undefined: the one that fits the passages' script or language. */
  analyzer?: string;
  /** Prompt for a policy that was not trained on the protocol; undefined: the recipe's own. */
  prompt?: string;
}

/** What was read and written. */
export interface InitResult {
  recipe: string;
  index: string;
  questions: { count: number; withoutAnswer: number; heldOut: number };
  /** The first questions with their first answers. */
  examples: { question: string; answer: string | null }[];
  passages: number;
  /** Of the index, and what was found in the passages where that decided. */
  analyzer: { name: string; found: string | null };
  /** Files that were split into passages; null: the passages came as records. */
  texts: number | null;
}

/** The recipe that `init` writes. */
export const RECIPE_FILE = "agentrl.yaml";
const INDEX_FOLDER = "index";
/** Questions that were made from the passages, beside the recipe. */
export const QUESTIONS_FILE = "questions.jsonl";
const EXAMPLES = 3;

/**
 * Reads the user's questions and passages, indexes the passages, and writes a recipe that names them.
 * @throws {DataError} as `openDataset` and `buildIndex`; then nothing is written.
 * @throws {ConfigError} INDEX_EXISTS without `overwrite`; VOCABULARY_UNFIT for a model's folder; as `policyFolder`.
 */
export async function initProject(
  project: OwnProject,
  options: { overwrite: boolean; signal: AbortSignal; onPassages?: (passages: number) => void },
): Promise<InitResult> {
  const { folder, passages, fields, policy } = project;
  const { overwrite, signal, onPassages } = options;
  const questions = project.questions ?? (await makeQuestions(project));
  const own = {
    name: "files",
    tasks: questions,
    corpus: passages,
    fields: Object.keys(fields).length === 0 ? undefined : fields,
  };
  const dataset = await openDataset(own, "--questions");
  if ("from" in policy && existsSync(policy.from))
    await requireVocabulary(policy.from, await dataset.tasks(SAMPLED_QUESTIONS), signal);
  const found = { count: 0, withoutAnswer: 0, heldOut: 0 };
  const examples: InitResult["examples"] = [];
  for await (const { question, references } of dataset.stream()) {
    found.count += 1;
    if (references.length === 0) found.withoutAnswer += 1;
    if (examples.length < EXAMPLES) examples.push({ question, answer: references[0] ?? null });
  }
  if ("from" in policy) {
    const heldOut = await openDataset({ ...own, part: "held-out" }, "--questions");
    for await (const _ of heldOut.stream()) found.heldOut += 1;
  }
  await makeFolder(folder);
  const index = join(folder, INDEX_FOLDER);
  const analyzer = await analyzerOf(project, dataset);
  const manifest = await buildIndex(dataset.passages(), index, {
    overwrite,
    signal,
    source: passages ?? questions,
    analyzer: analyzer.name,
    onProgress: onPassages,
  });
  const recipe = join(folder, RECIPE_FILE);
  await writeFileAtomic(recipe, await recipeText({ ...project, questions }));
  const source = await dataSource(passages ?? questions);
  const texts = source.kind === "texts" ? source.files.length : null;
  const counted = { questions: found, examples, passages: manifest.corpus.passages, texts };
  return { recipe, index, ...counted, analyzer };
}

/** Questions that are made where the user has none. */
const MADE = { limit: 500, seed: 1, hops: 1, ask: DEFAULT_ASK } as const;

/** @throws {DataError} QUESTIONS_NOT_MADE; as `readPassages`. @returns the file. */
async function makeQuestions({ folder, passages = "", fields }: OwnProject): Promise<string> {
  const { tasks, passages: count } = await maskedQuestions(
    () => readPassages(passages, fields),
    MADE,
  );
  requireQuestions(tasks, passages, count);
  await makeFolder(folder);
  const path = join(folder, QUESTIONS_FILE);
  await writeFileAtomic(path, questionLines(tasks));
  return path;
}

/** Passages that are looked at for their language. */
const SAMPLED_PASSAGES = 1000;

async function analyzerOf(
  { analyzer }: OwnProject,
  dataset: Dataset,
): Promise<InitResult["analyzer"]> {
  if (analyzer !== undefined) return { name: analyzer, found: null };
  const sample = new TextSample();
  let count = 0;
  for await (const { text } of dataset.passages()) {
    sample.add(text);
    if ((count += 1) === SAMPLED_PASSAGES) break;
  }
  const advice = suggestAnalyzer(sample.texts, DEFAULT_ANALYZER);
  return { name: advice?.analyzer ?? DEFAULT_ANALYZER, found: advice?.found ?? null };
}

/** @throws {ConfigError} VOCABULARY_UNFIT, for the same models that a training refuses; POLICY_IS_RUN. */
async function requireVocabulary(
  from: string,
  questions: readonly Task[],
  signal: AbortSignal,
): Promise<void> {
  const folder = await policyFolder(from);
  const tokenizer = await loadTokenizer((await baseFolder(folder, { signal })) ?? folder);
  const problem = vocabularyProblem(spelledShare(questions, tokenizer));
  if (problem === null) return;
  throw new ConfigError(
    "VOCABULARY_UNFIT",
    `--policy is ${from}: ${problem} Name a server (http://…/v1), another model's folder, or org/name of the hub.`,
  );
}

/** The recipe: Search-R1's rules with the budgets of its paper, which fit real text. Its paths start from its folder. */
async function recipeText(project: OwnProject & { questions: string }): Promise<string> {
  const { folder, questions, passages, fields, policy, prompt } = project;
  // What the base sets holds at the paper's size; the smaller tiers shrink it to the tiny world.
  const { environment, budgets, rewards } = (await loadRecipe("search-r1")).base;
  const from = (path: string): string => relative(resolve(folder), resolve(path)) || ".";
  const own = {
    name: "files",
    tasks: from(questions),
    corpus: passages === undefined ? undefined : from(passages),
    fields: Object.keys(fields).length === 0 ? undefined : fields,
  };
  const trains = "from" in policy;
  const content = {
    summary: `Own questions: ${from(questions)}`,
    base: {
      seed: 1,
      policy: "from" in policy ? { ...policy, from: policyPath(policy.from, folder) } : policy,
      dataset: trains ? { ...own, part: "train" } : undefined,
      retriever: { name: "bm25", index: INDEX_FOLDER },
      environment: { ...(environment as object), prompt },
      budgets,
      rewards,
      algorithm: trains ? TRAINING : undefined,
      evaluation: { dataset: trains ? { ...own, part: "held-out" } : own },
    },
    tiers: { ...(trains && { smoke: SMOKE }), mini: {} },
  };
  return writeYaml(content, HEADER, (keys) => NOTES[keys.join(".")]);
}

/** A model's folder from the recipe's folder; a name of the hub stays. */
function policyPath(from: string, folder: string): string {
  return isAbsolute(from) || !existsSync(from) ? from : pathFrom(folder, from);
}

/** A short training of a small model on one machine. */
const TRAINING = {
  name: "grpo",
  steps: 100,
  promptsPerStep: 8,
  groupSize: 5,
  minibatches: 2,
  klCoef: 0.001,
  optimizer: { learningRate: 1e-6 },
};

/** A training that shows in minutes whether all of it goes through. */
const SMOKE = {
  environment: { tools: [{ name: "corpus-search", topK: 1 }] },
  budgets: [
    { scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" },
    { scope: "turn", unit: "tokens", limit: 64, onExhausted: "cut" },
    { scope: "observation", unit: "tokens", limit: 250, onExhausted: "cut" },
    { scope: "context", unit: "tokens", limit: 1024, onExhausted: "drop-oldest" },
  ],
  algorithm: { steps: 2, promptsPerStep: 2, groupSize: 2, minibatches: 1 },
  evaluation: { dataset: { limit: 8 } },
};

const HEADER =
  "Written by `agentrl init`. Paths start from the folder of this file. `agentrl recipes show` lists every setting.";

const NOTES: Readonly<Record<string, string>> = {
  "base.dataset.part": "four of five questions",
  "base.evaluation.dataset.part": "every fifth question: never trained on",
  "base.retriever.index": "built from the passages; `agentrl index build` rebuilds it",
  "base.policy.from":
    "a folder, or org/name of the Hugging Face hub; `chat: {}` below it asks through the model's chat template",
  "base.policy.endpoint.model":
    "asked through the server's chat template; `api: completions` sends plain text, as a base model needs",
  "base.policy.endpoint.apiKeyEnv": "name of the environment variable that holds the key",
};
