import type { Task } from "../../trajectory/task.ts";
import type { Turn } from "../../trajectory/trajectory.ts";

/** A passage that the answer needs, as far as the dataset tells. */
export interface NeededPassage {
  /** null where only its title is known. */
  id: string | null;
  /** "" where it is not known. */
  title: string;
  /** "" where it is not known. */
  text: string;
  /** What of its text must have been shown: its supporting sentences, else all of it; none where the text is not known. */
  parts: readonly string[];
}

/** The passages that together answer a question, in the dataset's order; none where it names none. */
export function neededPassages({ annotations }: Task): NeededPassage[] {
  const { supportingPassages, supportingFacts = [], context = [] } = annotations;
  const titles = [...new Set(supportingFacts.map(({ title }) => title))];
  if (supportingPassages === undefined) {
    return titles.map((title) => ({ id: null, title, text: "", parts: [] }));
  }
  return supportingPassages.map((id, i) => {
    const passage = context.find((each) => each.id === id);
    if (passage === undefined) {
      const title = titles.length === supportingPassages.length ? (titles[i] ?? "") : "";
      return { id, title, text: "", parts: [] };
    }
    const { title, text, sentences = [] } = passage;
    const facts = supportingFacts.filter((fact) => fact.title === title);
    const supporting = facts.flatMap(({ sentence }) => sentences[sentence] ?? []);
    return { id, title, text, parts: supporting.length > 0 ? supporting : [text] };
  });
}

/**
 * Tells which passages were read: a search returned the passage and what is needed of it was shown; from a corpus with ids of its own,
 * a passage under its title was shown.
 * @param shown replies as they were shown, which may be shorter than what the searches found.
 */
export function readingOf(
  turns: readonly Turn[],
  shown: string,
): (passage: NeededPassage) => boolean {
  const returned = new Set(
    turns.flatMap(({ observations }) => observations.flatMap(({ passageIds = [] }) => passageIds)),
  );
  return ({ id, title, parts }) => {
    if (id !== null && returned.has(id)) return parts.every((part) => shown.includes(part));
    return title !== "" && shown.includes(`(Title: ${title})`);
  };
}
