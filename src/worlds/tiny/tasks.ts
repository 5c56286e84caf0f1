import type { Task } from "../../trajectory/task.ts";
import type { Draft, DraftStep } from "./decks.ts";
import type { Facts } from "./facts.ts";
import {
  type PageSettings,
  type Pages,
  type Sentence,
  type TextSettings,
  passageSentences,
  sourceOf,
} from "./pages.ts";
import { type TinyWorldSplit, mix32 } from "./permutation.ts";
import { UNKNOWN, aliasStep, inverseStep, step, valueText } from "./text.ts";

interface Place {
  facts: Facts;
  pages: Pages;
  settings: PageSettings & TextSettings & { split: TinyWorldSplit };
}

/** Id of a passage. */
export function passageId(split: TinyWorldSplit, number: number): string {
  return `${split}-${number}`;
}

interface TaskStep {
  question: string;
  answer: string;
  title: string;
  /** Number of the passage that states it; null if none does. */
  page: number | null;
  states: Sentence["states"];
}

/** A drawn question with its references and gold annotations. Steps end with the first that no passage states. */
export function taskOf(place: Place, id: string, draft: Draft): Task {
  const { facts, settings } = place;
  const all = withNames(facts, draft).map((each) => stepOf(place, each));
  const gap = all.findIndex(({ page }) => page === null);
  const steps = gap === -1 ? all : all.slice(0, gap + 1);
  const gold = steps.flatMap((each) => (each.page === null ? [] : [{ ...each, page: each.page }]));
  return {
    id,
    question: draft.text,
    references: [gap === -1 ? (draft.answer ?? steps.at(-1)?.answer ?? "") : UNKNOWN],
    source: "tinyworld",
    annotations: {
      type: draft.type,
      hops: steps.length,
      supportingPassages: gold.map(({ page }) => passageId(settings.split, page)),
      supportingFacts: gold.map(({ title, page, states }) => ({
        title,
        sentence: sentenceStating(place, page, states),
      })),
      decomposition: steps.map(({ question, answer, page }) => ({
        question,
        answer,
        passage: page === null ? null : passageId(settings.split, page),
      })),
      answerable: gap === -1 ? undefined : false,
      route:
        settings.sources > 1
          ? steps.map(({ states }) =>
              states === null || states === "alias"
                ? "encyclopedia"
                : sourceOf(states, settings.sources),
            )
          : undefined,
    },
  };
}

/** The steps, each second name resolved before the step that needs it. */
function withNames(facts: Facts, { steps, named }: Draft): (DraftStep | { alias: number })[] {
  const left = new Set(named.filter((entity) => facts.alias(entity) !== null));
  return steps.flatMap((each) => {
    const needs = each.inverse ? each.fact.value : each.entity;
    return left.delete(needs) ? [{ alias: needs }, each] : [each];
  });
}

function stepOf({ facts, pages }: Place, each: DraftStep | { alias: number }): TaskStep {
  if ("alias" in each)
    return {
      question: aliasStep(facts.alias(each.alias) ?? ""),
      answer: facts.name(each.alias),
      title: facts.title(each.alias),
      page: pages.naming(each.alias),
      states: "alias",
    };
  const { entity, fact, inverse } = each;
  const { relation } = fact;
  const value = valueText(facts, relation, fact.value);
  const isMissing = facts.isMissing(entity, relation);
  return {
    question: inverse ? inverseStep(relation, value) : step(relation, facts.name(entity)),
    answer: isMissing ? UNKNOWN : inverse ? facts.name(entity) : value,
    title: facts.title(entity),
    page: isMissing ? null : pages.stating(entity, relation),
    states: relation,
  };
}

function sentenceStating(
  { facts, pages, settings }: Place,
  page: number,
  states: Sentence["states"],
): number {
  const sentences = passageSentences(facts, pages.page(page), page, settings);
  return sentences.findIndex((sentence) => sentence.states === states);
}

/** The gold passages and similar ones: same first word, then those that name a gold entity, then any. */
export function contextPages(
  { facts, pages }: Pick<Place, "facts" | "pages">,
  draft: Draft,
  wanted: number,
  number: number,
): number[] {
  const gold = draft.steps.map(({ entity }) => entity);
  const chosen = new Set([
    ...draft.steps.map(({ entity, fact }) => pages.stating(entity, fact.relation)),
    ...draft.named
      .filter((entity) => facts.alias(entity) !== null)
      .map((entity) => pages.naming(entity)),
  ]);
  const near = gold.flatMap((entity) => [
    ...facts.alike(entity, 3),
    ...facts.mentioning(entity).slice(0, 4),
  ]);
  for (const page of near.flatMap((entity) => pages.about(entity))) {
    if (chosen.size < wanted) chosen.add(page);
  }
  const random = facts.hash("context", number);
  for (let i = 0; chosen.size < Math.min(wanted, pages.size); i++)
    chosen.add(mix32(random, i) % pages.size);
  const place = (page: number): number => mix32(~random, page);
  return [...chosen].sort((a, b) => place(a) - place(b) || a - b);
}
