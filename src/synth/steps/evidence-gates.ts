import { z } from "../../base/schema.ts";
import { exactMatch } from "../../text/answers.ts";
import { isFunctionWord, mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { shingles, wordHashes } from "../overlap/seen-texts.ts";
import { stepAnswers } from "../teachers/sought-steps.ts";
import {
  type TextOf,
  callsOf,
  defineGate,
  mainTurns,
  policyText,
  shownAfter,
  shownBefore,
} from "./step.ts";

const PLACES = ["hint", "query", "thought"] as const;

type Place = (typeof PLACES)[number];

/** The references, and in queries the steps' answers, except those in the question, yes, no and function words. See also `supported`. */
export const noLeak = defineGate({
  name: "no-leak",
  summary:
    "Drops trajectories that reveal the answer, or in a query a step's answer, before the policy read it: in a hint, a query or a thought.",
  options: z.strictObject({
    /**
     * Places that must not contain an answer. hint: inserted text. query, thought: parts of a searching message, before the policy read the
     * answer.
     */
    in: z
      .array(z.enum(PLACES))
      .min(1)
      .default([...PLACES]),
  }),
  why({ trajectory }, task, { textOf, settings }) {
    const places = new Set(settings.in);
    const secrets = secretsOf(task, task.references);
    const place = secrets.length === 0 ? null : leakIn(trajectory, secrets, textOf, places);
    if (place !== null) return `leak: ${place}`;
    const steps = places.has("query") ? secretsOf(task, stepAnswers(task)) : [];
    return steps.some((step) => asksWith(trajectory, step, textOf)) ? "leak: step in query" : null;
  },
});

function asksWith(trajectory: Trajectory, secret: string, textOf: TextOf): boolean {
  const tells = (text: string): boolean => mentionsIn(text)(secret);
  const shown = shownAfter(trajectory, textOf);
  let isRead = tells(shownBefore(trajectory));
  for (const [i, turn] of mainTurns(trajectory).entries()) {
    if (isRead) return false;
    if (callsOf(turn).some(({ input }) => tells(input))) return true;
    isRead = tells(shown[i] ?? "");
  }
  return false;
}

/** Of some answers, those that the policy can know only from passages. */
function secretsOf({ question }: Task, answers: readonly string[]): string[] {
  const inQuestion = mentionsIn(question);
  return answers.filter((reference) => {
    const words = wordsOf(reference);
    return !words.every(isFunctionWord) && !inQuestion(reference);
  });
}

function leakIn(
  trajectory: Trajectory,
  secrets: readonly string[],
  textOf: TextOf,
  places: ReadonlySet<Place>,
): Place | null {
  const tells = (text: string) => secrets.some(mentionsIn(text));
  const { hints = [], calls } = trajectory;
  if (places.has("hint") && hints.some(({ text }) => tells(text))) return "hint";
  const shown = shownAfter(trajectory, textOf);
  let isRead = tells(shownBefore(trajectory));
  for (const [i, turn] of mainTurns(trajectory).entries()) {
    if (isRead) return null;
    const { prompt = [], completion = [] } = calls[turn.call] ?? {};
    const inserted = [...prompt, ...completion].filter(({ owner }) => owner === "inserted");
    if (places.has("hint") && tells(inserted.map(textOf).join("\n"))) return "hint";
    const queries = callsOf(turn);
    if (places.has("query") && queries.some(({ input }) => tells(input))) return "query";
    if (places.has("thought") && queries.length > 0) {
      const thought = queries.reduce(
        (text, { input }) => text.replace(input, " "),
        policyText(trajectory, turn, textOf),
      );
      if (tells(thought)) return "thought";
    }
    isRead = tells(shown[i] ?? "");
  }
  return null;
}

/** Hints are no evidence: only observations of the main line count, as the policy read them. */
export const supported = defineGate({
  name: "supported",
  summary: "Drops answers without support in the shown passages.",
  options: z.strictObject({
    /**
     * What supports an answer. answer: an observation contains it. passages: the searches returned all supporting passages. Only passages
     * can support an answer that the question names, or yes and no.
     */
    evidence: z.enum(["answer", "passages", "either"]).default("either"),
    /** Decision when only passages can support the answer and the dataset names none. */
    unknown: z.enum(["drop", "keep"]).default("drop"),
  }),
  why({ trajectory }, task, { textOf, settings: { evidence, unknown } }) {
    const { answer } = trajectory;
    if (answer === null) return "no answer";
    const sought = evidence === "passages" ? [] : namesToSeek(answer, task);
    if (sought.length > 0 && isShown(trajectory, sought, textOf)) return null;
    if (evidence === "answer" && sought.length > 0) return "answer not shown";
    const gold = task.annotations.supportingPassages;
    if (gold === undefined || gold.length === 0) {
      // The text of this answer could have been shown but was not, so it has no support.
      if (sought.length > 0) return "answer not shown";
      return unknown === "keep" ? null : "passages not known";
    }
    const returned = new Set(returnedIds(trajectory));
    if (gold.every((id) => returned.has(id))) return null;
    return sought.length > 0 ? "answer not shown" : "passages not returned";
  },
});

/** Texts that support the answer: itself, and all references if it is right; none if the question names one of them. */
function namesToSeek(answer: string, { question, references }: Task): string[] {
  const names = exactMatch(answer, references) === 1 ? [answer, ...references] : [answer];
  const inQuestion = mentionsIn(question);
  if (names.some((name) => inQuestion(name))) return [];
  return names.filter((name) => !wordsOf(name).every(isFunctionWord));
}

function isShown(trajectory: Trajectory, names: readonly string[], textOf: TextOf): boolean {
  const shown = [shownBefore(trajectory), ...shownAfter(trajectory, textOf)];
  return shown.some((text) => names.some(mentionsIn(text)));
}

function returnedIds(trajectory: Trajectory): string[] {
  const found = [
    ...(trajectory.given ?? []),
    ...mainTurns(trajectory).flatMap(({ observations }) => observations),
  ];
  return found.flatMap(({ passageIds = [] }) => passageIds);
}

/** Copies of the question and of a right answer are allowed at any length. */
export const noCopiedObservation = defineGate({
  name: "no-copied-observation",
  summary: "Drops messages that copy long passages of the observations.",
  options: z.strictObject({
    /**
     * This many equal words in a row are a copy; articles do not count. Names, titles and a quoted clause are shorter: of 625 published
     * traces of R1-Searcher 1 in 5 repeats 16 words, 1 in 20 repeats 24.
     */
    words: z.int().min(4).default(24),
  }),
  why({ trajectory }, task, { textOf, settings: { words: n } }) {
    const shown = shownAfter(trajectory, textOf);
    const read = new Set<number>();
    const reads = (text: string): void => {
      for (const shingle of shinglesOf(text, n)) read.add(shingle);
    };
    reads(shownBefore(trajectory));
    const free = new Set(shinglesOf(task.question, n));
    for (const [i, turn] of mainTurns(trajectory).entries()) {
      const answers = turn.actions.filter(
        ({ tool, input }) => tool === "answer" && exactMatch(input, task.references) === 1,
      );
      const text = answers.reduce(
        (left, { input }) => left.replace(input, "\n"),
        policyText(trajectory, turn, textOf),
      );
      if (shinglesOf(text, n).some((shingle) => read.has(shingle) && !free.has(shingle)))
        return "copied";
      reads(shown[i] ?? "");
    }
    return null;
  },
});

function shinglesOf(text: string, n: number): number[] {
  const words = wordHashes(text);
  return words.length < n ? [] : shingles(words, n);
}
