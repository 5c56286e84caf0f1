import { RolloutError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { requireSearching } from "../../env/environments/environment.ts";
import { openRetriever, retrieverSchema } from "../../retrieval/index.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import { withPrompts } from "../../rollout/prompt-session.ts";
import { runTools } from "../../rollout/record.ts";
import { GREEDY } from "../../rollout/sampling.ts";
import { isFunctionWord, mentionsIn, wordsOf } from "../../text/words.ts";
import { type Task, stepQuestions } from "../../trajectory/task.ts";
import { type AnnotationResources, defineAnnotation } from "./annotation.ts";

const options = z.strictObject({
  /** Further retrievers that try each query, beside the environment's own search (paper: M in all). */
  retrievers: z.array(retrieverSchema).default([]),
  /** Hits per further retriever; the tool's options set the environment's own. */
  topK: z.int().min(1).default(3),
  /** Most queries kept for a step. */
  terms: z.int().min(1).default(5),
  /** Rewrites of each step's question by the teacher (paper: N); the teacher must be a model. */
  rewrites: z.int().min(0).default(0),
});

/**
 * Finds, for each step of a question's decomposition (or each triple), search queries that work, as `searchTerms`: valid for at least half
 * of the retrievers, those that work for more first. A query is valid if the gold passage is among the hits, by id or title; without one, if
 * a hit contains the step's answer; without both, if there is a hit. Tried are the step's question, its content words, name and relation in
 * both orders, and the teacher's rewrites. Different here: the paper lets GPT-4o decompose and calls any result valid.
 */
export const searchTerms = defineAnnotation({
  name: "search-terms",
  summary: "Adds search queries that find what each step of a question needs.",
  source: "StepSearch, arXiv 2505.15107, section 3.1: kept if at least ⌈M/2⌉ of M engines serve it",
  options,
  async open(settings, resources) {
    const further: Retriever[] = [];
    for (const each of settings.retrievers)
      further.push(await openRetriever(each, resources.passages));
    const searches = [
      ownSearch(resources),
      ...further.map((each) => searchOf(each, settings.topK)),
    ];
    const needed = Math.ceil(searches.length / 2);
    return {
      async annotate(task, signal) {
        const steps = soughtIn(task);
        if (steps.length === 0) return task;
        const found: string[][] = [];
        for (const step of steps) {
          const { rewrites, terms } = settings;
          const asked =
            rewrites === 0 ? [] : await rewritesOf(step, task, { rewrites, resources, signal });
          const voted = await votes([...wordings(step), ...asked], {
            step,
            task,
            searches,
            signal,
          });
          const valid = voted.filter(({ count }) => count >= needed);
          valid.sort((a, b) => b.count - a.count);
          found.push(valid.slice(0, terms).map(({ query }) => query));
        }
        return { ...task, annotations: { ...task.annotations, searchTerms: found } };
      },
      async close() {
        for (const each of further) await each.close();
      },
    };
  },
});

interface Sought {
  question: string;
  /** Subject and relation, if the question separates them. */
  parts: { subject: string; relation: string } | null;
  answer: string;
  passage: { id: string; title: string | undefined } | null;
}

type Found = { ids: readonly string[]; titles: readonly string[]; text: string };

type Search = (query: string, task: Task, signal: AbortSignal) => Promise<Found>;

function soughtIn({ annotations }: Task): Sought[] {
  const { decomposition = [], evidences = [], context = [] } = annotations;
  if (decomposition.length === 0)
    return evidences.map(({ subject, relation, object }) => ({
      question: `${relation} of ${subject}`,
      parts: { subject, relation },
      answer: object,
      passage: null,
    }));
  const questions = stepQuestions(decomposition);
  return decomposition.map(({ question: asked, answer, passage: id }, i) => {
    const filled = questions[i] ?? asked;
    const parts = partsOf(filled);
    const question = parts === null ? filled : `${parts.relation} of ${parts.subject}`;
    const title = context.find((each) => each.id === id)?.title;
    return { question, parts, answer, passage: id === null ? null : { id, title } };
  });
}

/** `mayor of Aldo Brenn`, as the tiny world writes steps, or MuSiQue's `Aldo Brenn >> mayor`. */
function partsOf(question: string): Sought["parts"] {
  const [, subject, relation] = /^(.+?)\s*>>\s*(.+)$/.exec(question) ?? [];
  if (subject !== undefined && relation !== undefined) return { subject, relation };
  const [, label, name] = /^([^?]+?) of ([^?]+)$/.exec(question) ?? [];
  if (label === undefined || name === undefined || /^\p{Lu}/u.test(label)) return null;
  return { subject: name, relation: label };
}

function wordings({ question, parts }: Sought): string[] {
  const words = question.split(/\s+/).filter((piece) => {
    const own = wordsOf(piece);
    return own.length > 0 && !own.every(isFunctionWord);
  });
  const content = words.map((word) => word.replace(/[?.,;:!]+$/, "")).join(" ");
  return [
    question,
    content,
    ...(parts === null ? [] : [`${parts.subject} ${parts.relation}`, parts.subject]),
  ];
}

type Vote = { step: Sought; task: Task; searches: readonly Search[]; signal: AbortSignal };

async function votes(
  queries: readonly string[],
  { step, task, searches, signal }: Vote,
): Promise<{ query: string; count: number }[]> {
  const seen = new Set<string>();
  const voted: { query: string; count: number }[] = [];
  for (const query of queries) {
    const key = query.toLowerCase();
    if (query === "" || seen.has(key)) continue;
    seen.add(key);
    let count = 0;
    for (const search of searches) {
      if (isValid(step, await search(query, task, signal))) count += 1;
    }
    voted.push({ query, count });
  }
  return voted;
}

function isValid({ passage, answer }: Sought, { ids, titles, text }: Found): boolean {
  if (passage !== null) {
    const { id, title } = passage;
    return ids.includes(id) || (title !== undefined && title !== "" && titles.includes(title));
  }
  return answer === "" ? ids.length > 0 : mentionsIn(text)(answer);
}

function ownSearch({ environment }: AnnotationResources): Search {
  return async (query, task, signal) => {
    const search = () => requireSearching(environment).search(query, { task }, signal);
    const { text, passageIds = [] } = await runTools(signal, search);
    const titles = [...text.matchAll(/^Doc \d+\(Title: ("?)(.*?)\1\) /gm)].map(
      ([, , title = ""]) => title,
    );
    return { ids: passageIds, titles, text };
  };
}

function searchOf(retriever: Retriever, topK: number): Search {
  return async (query, task, signal) => {
    const search = () => retriever.search([query], topK, { signal, contexts: [{ task }] });
    const [hits = []] = await runTools(signal, search);
    return {
      ids: hits.map(({ id }) => id),
      titles: hits.map(({ title }) => title),
      text: hits.map(({ title, text }) => `${title} ${text}`).join("\n"),
    };
  };
}

type Rewriting = { rewrites: number; resources: AnnotationResources; signal: AbortSignal };

/** The teacher's rewrites of a step, one a line. @throws {RolloutError} when its server fails. */
async function rewritesOf(
  { question }: Sought,
  task: Task,
  { rewrites, resources, signal }: Rewriting,
): Promise<string[]> {
  const { policy, environment, seed } = resources;
  const queries: string[] = [];
  const id = `${task.id}/search-terms`;
  const rollout = { policy, environment, task, id, groupId: task.id, seed, signal };
  const prompt = [
    `Write ${rewrites} different search queries that would find the answer of the question, one a line, and nothing else.`,
    `Question: ${question}`,
    "Queries:",
    "",
  ].join("\n");
  const { error } = await withPrompts(
    { ...rollout, purpose: "eval", sampling: GREEDY },
    async (session) => {
      const message = await session.ask(prompt);
      const lines = (message?.text ?? "").split("\n").map(bareLine);
      queries.push(...lines.filter((line) => line !== "").slice(0, rewrites));
      return null;
    },
  );
  if (error === undefined) return queries;
  throw new RolloutError(error.code as RolloutError["code"], error.message);
}

function bareLine(line: string): string {
  return line
    .replace(/^\s*(?:\d+[.):]|[-*•])\s*/, "")
    .trim()
    .replace(/^"(.*)"$/, "$1");
}
