import { mentionsIn, wordsOf } from "../../text/words.ts";
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

/** Something to be found out on the way to an answer. */
export interface SoughtStep {
  /** The passage that tells it; null where the dataset does not say which. */
  passage: NeededPassage | null;
  /** What it asks for: "director of Polish-Russian War", or a question; null: just the passage. */
  wanted: string | null;
  /** What must be known before it can be asked; whichever of them stands there first is named. */
  names: readonly string[];
  /** Numbers of the steps, from 0, whose answers it uses. */
  uses: readonly number[];
  /** What it tells; null where the dataset does not say. */
  answer: string | null;
}

/**
 * What has to be found out, from the dataset's own gold: a decomposition (MuSiQue, the tiny world), triples (2WikiMultihopQA), or the
 * passages alone (HotpotQA), each with its passage. None for a question whose dataset tells only its answer.
 */
export function soughtSteps(task: Task): SoughtStep[] {
  const { decomposition = [], evidences = [] } = task.annotations;
  const passages = neededPassages(task);
  const steps =
    decomposition.length > 0 ? decomposed(task, passages) : tripled(evidences, passages);
  const covered = new Set(steps.map(({ passage }) => passage));
  const rest = passages.filter((passage) => !covered.has(passage));
  const inQuestion = mentionsIn(task.question);
  const isNamed = (passage: NeededPassage): boolean => namesOf(passage).some(inQuestion);
  // Whoever asks begins with what the question names.
  const ordered = [...rest.filter(isNamed), ...rest.filter((passage) => !isNamed(passage))];
  return [
    ...steps,
    ...ordered.map((passage) => {
      return { passage, wanted: null, names: namesOf(passage), uses: [], answer: null };
    }),
  ];
}

/** What a passage's subject may be called, longest first: its title, and that without what tells it from its namesakes. */
export function namesOf({ title }: NeededPassage): string[] {
  const bare = title.replace(/\s*\([^()]*\)$/, "");
  return [...new Set([title, bare])].filter((name) => wordsOf(name).length > 0);
}

function decomposed(
  { annotations: { decomposition = [] } }: Task,
  passages: readonly NeededPassage[],
): SoughtStep[] {
  return decomposition.map(({ question, answer, passage: id }) => {
    const numbers = [...question.matchAll(/#(\d+)/g)].map(([, number]) => Number(number) - 1);
    const filled = question.replace(
      /#(\d+)/g,
      (whole, number: string) => decomposition[Number(number) - 1]?.answer ?? whole,
    );
    return {
      passage: id === null ? null : (passages.find((each) => each.id === id) ?? unnamed(id)),
      wanted: asPhrase(filled),
      names: [],
      uses: numbers,
      answer: answer === "" ? null : answer,
    };
  });
}

/** MuSiQue writes some steps as `subject >> relation`. */
function asPhrase(question: string): string {
  const [, subject, relation] = /^(.+?)\s*>>\s*(.+)$/.exec(question) ?? [];
  return subject === undefined || relation === undefined ? question : `${relation} of ${subject}`;
}

function unnamed(id: string): NeededPassage {
  return { id, title: "", text: "", parts: [] };
}

function tripled(
  evidences: readonly { subject: string; relation: string; object: string }[],
  passages: readonly NeededPassage[],
): SoughtStep[] {
  return evidences.map(({ subject, relation, object }) => {
    const passage = passageAbout(subject, passages);
    return {
      passage,
      wanted: `${relation} of ${subject}`,
      names: [subject],
      uses: [],
      answer: object,
    };
  });
}

/** The passage whose title shares most of its words with a name; null where none shares half of them. */
function passageAbout(name: string, passages: readonly NeededPassage[]): NeededPassage | null {
  const words = new Set(wordsOf(name));
  let best: { passage: NeededPassage | null; shared: number } = { passage: null, shared: 0.5 };
  for (const passage of passages) {
    for (const title of namesOf(passage)) {
      const own = new Set(wordsOf(title));
      const both = [...own].filter((word) => words.has(word)).length;
      const shared = both / (own.size + words.size - both);
      if (shared >= best.shared && shared > 0 && (best.passage === null || shared > best.shared)) {
        best = { passage, shared };
      }
    }
  }
  return best.passage;
}
