import type { Task } from "./task.ts";

/**
 * What is known of a question, for texts that may show it: {question}, {answer} (the first reference), {titles} (of the gold passages) and
 * {questions} (the decomposition). null: the dataset does not say.
 */
export function goldTexts({
  question,
  references,
  annotations,
}: Task): Record<string, string | null> {
  const { supportingFacts, supportingPassages = [], context = [], decomposition } = annotations;
  const gold = new Set(supportingPassages);
  const titles =
    supportingFacts?.map(({ title }) => title) ??
    context.filter(({ id }) => gold.has(id)).map(({ title }) => title);
  const list = (items: readonly string[] = []): string | null =>
    items.length === 0 ? null : [...new Set(items)].join("; ");
  const questions = decomposition?.map((step) => step.question);
  return {
    question,
    titles: list(titles),
    answer: references[0] ?? null,
    questions: list(questions),
  };
}

/** Replaces each known `{name}` in one pass, so values may contain braces; null if a used name's value is null. */
export function filled(
  text: string,
  known: Readonly<Record<string, string | null>>,
): string | null {
  const names = Object.keys(known);
  const lacks = names.some((name) => known[name] === null && text.includes(`{${name}}`));
  if (lacks) return null;
  return text.replace(/\{([a-z]+)\}/g, (as, name: string) => known[name] ?? as);
}
