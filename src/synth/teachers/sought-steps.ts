import { mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import { neededPassages, type NeededPassage } from "./needed-passages.ts";

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
