import { sentencesOf } from "../../rollout/sentences.ts";
import { mentionsIn, wordsOf } from "../../text/words.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import type { Turn } from "../../trajectory/trajectory.ts";

/** A passage that the answer needs, with the dataset's facts about it. */
export interface NeededPassage {
  id: string | null;
  title: string;
  text: string;
  /** Texts that must have been shown: its supporting sentences, else those with its facts, else all of it; none if the text is unknown. */
  parts: readonly string[];
}

/** The passages that together answer a question, in the dataset's order; empty if it names none. */
export function neededPassages({ annotations }: Task): NeededPassage[] {
  const { supportingPassages, supportingFacts = [], context = [] } = annotations;
  const titles = [...new Set(supportingFacts.map(({ title }) => title))];
  const known = context.filter(({ id }) => supportingPassages?.includes(id) === true);
  if (supportingPassages === undefined)
    return titles.map((title) => ({ id: null, title, text: "", parts: [] }));
  return supportingPassages.map((id, i) => {
    const passage = context.find((each) => each.id === id);
    if (passage === undefined) {
      const title = titles.length === supportingPassages.length ? (titles[i] ?? "") : "";
      return { id, title, text: "", parts: [] };
    }
    const { title, text, sentences = [] } = passage;
    const facts = supportingFacts.filter((fact) => fact.title === title);
    const supporting = facts.flatMap(({ sentence }) => sentences[sentence] ?? []);
    const parts =
      supporting.length > 0 ? supporting : stating(factsOf(passage, known, annotations), text);
    return { id, title, text, parts };
  });
}

function factsOf(
  { id }: Passage,
  known: readonly Passage[],
  { decomposition = [], evidences = [] }: Task["annotations"],
): string[] {
  const steps = decomposition.filter(({ passage }) => passage === id);
  const triples = evidences.filter(({ subject }) => passageAbout(subject, known)?.id === id);
  return [...steps.map(({ answer }) => answer), ...triples.map(({ object }) => object)];
}

/** The first sentence that mentions each fact; the whole text if there are none, or one is written otherwise. Long passages are often cut. */
function stating(facts: readonly string[], text: string): string[] {
  const sentences = sentencesOf(text);
  const stated = facts.flatMap((fact) => {
    return sentences.find((sentence) => mentionsIn(sentence)(fact)) ?? [];
  });
  return facts.length > 0 && stated.length === facts.length ? [...new Set(stated)] : [text];
}

/** Share of a needed text that must be shown where a corpus splits or spells its passages differently. */
const MOST = 0.6;

/** Which passages a search returned with their needed texts shown; in other corpora, most of each. A title alone proves nothing. */
export function readingOf(
  turns: readonly Turn[],
  shown: string,
): (passage: NeededPassage) => boolean {
  const returned = new Set(
    turns.flatMap(({ observations }) => observations.flatMap(({ passageIds = [] }) => passageIds)),
  );
  return ({ id, title, parts }) => {
    if (id !== null && returned.has(id)) return parts.every((part) => shown.includes(part));
    const isTitled = title !== "" && TITLED.some((titled) => shown.includes(titled(title)));
    return isTitled && parts.every((part) => shareShown(part, shown) >= MOST);
  };
}

/** How a passage's first line shows its title. */
const TITLED = [
  (title: string): string => `(Title: ${title})`,
  (title: string): string => `(Title: "${title}")`,
];

function shareShown(text: string, shown: string): number {
  const all = new Set(runsOf(shown));
  const own = runsOf(text);
  return own.filter((run) => all.has(run)).length / Math.max(1, own.length);
}

function runsOf(text: string): string[] {
  const words = wordsOf(text);
  if (words.length <= 3) return [words.join(" ")];
  return words.slice(2).map((_, i) => words.slice(i, i + 3).join(" "));
}

/** One fact to find before the answer. */
export interface SoughtStep {
  /** The passage with the fact; null if the dataset names none. */
  passage: NeededPassage | null;
  /** The wanted fact: "director of Polish-Russian War", or a question; null: the passage itself. */
  wanted: string | null;
  names: readonly string[];
  uses: readonly number[];
  /** Its answer; null if the dataset has none. */
  answer: string | null;
}

/** The facts to find, from a decomposition (MuSiQue, the tiny world), triples (2WikiMultihopQA) or passages (HotpotQA); else empty. */
export function soughtSteps(task: Task): SoughtStep[] {
  const { decomposition = [], evidences = [] } = task.annotations;
  const passages = neededPassages(task);
  const steps =
    decomposition.length > 0 ? decomposed(task, passages) : tripled(evidences, passages);
  const covered = new Set(steps.map(({ passage }) => passage));
  const rest = passages.filter((passage) => !covered.has(passage));
  const inQuestion = mentionsIn(task.question);
  const isNamed = (passage: NeededPassage): boolean => namesOf(passage).some(inQuestion);
  // A searcher starts with the names in the question.
  const ordered = [...rest.filter(isNamed), ...rest.filter((passage) => !isNamed(passage))];
  return [
    ...steps,
    ...ordered.map((passage) => {
      return { passage, wanted: null, names: namesOf(passage), uses: [], answer: null };
    }),
  ];
}

/** Answers of a question's steps, each of which leads to the next. */
export function stepAnswers({ annotations }: Pick<Task, "annotations">): string[] {
  const { decomposition = [], evidences = [] } = annotations;
  return [...decomposition.map(({ answer }) => answer), ...evidences.map(({ object }) => object)];
}

/** Names of a passage's subject, longest first: its title, and the title without its disambiguation. */
export function namesOf({ title }: Pick<NeededPassage, "title">): string[] {
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
      passage:
        id === null
          ? null
          : (passages.find((each) => each.id === id) ?? { id, title: "", text: "", parts: [] }),
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

/** The passage whose title shares most words with a name; null if none shares half of them. */
function passageAbout<P extends Pick<NeededPassage, "title">>(
  name: string,
  passages: readonly P[],
): P | null {
  const words = new Set(wordsOf(name));
  let best: { passage: P | null; shared: number } = { passage: null, shared: 0.5 };
  for (const passage of passages) {
    for (const title of namesOf(passage)) {
      const own = new Set(wordsOf(title));
      const both = [...own].filter((word) => words.has(word)).length;
      const shared = both / (own.size + words.size - both);
      if (shared >= best.shared && shared > 0 && (best.passage === null || shared > best.shared))
        best = { passage, shared };
    }
  }
  return best.passage;
}
