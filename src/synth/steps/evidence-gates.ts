import { z } from "../../base/schema.ts";
import { exactMatch } from "../../text/answers.ts";
import { isFunctionWord, mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { shingles, wordHashes } from "../overlap/shingles.ts";
import { callsOf, mainTurns, policyText, shownAfter, shownBefore } from "./main-line.ts";
import { defineGate } from "./step.ts";

const PLACES = ["hint", "query", "thought"] as const;

type Place = (typeof PLACES)[number];

/**
 * Looks for the references, except those in the question, yes and no, and words such as "who". A message that answers may name what
 * the policy did not read: that is for the gate `supported`.
 */
export const noLeak = defineGate({
  name: "no-leak",
  summary: "Drops what gives the answer away before it was read: in a hint, a query or a thought.",
  options: z.strictObject({
    /**
     * Where an answer may not stand. hint: what was put into messages or prompts. query, thought: a message that searches, before the
     * answer was read.
     */
    in: z
      .array(z.enum(PLACES))
      .min(1)
      .default([...PLACES]),
  }),
  why({ trajectory }, task, { textOf, settings }) {
    const secrets = secretsOf(task);
    if (secrets.length === 0) return null;
    const place = leakIn(trajectory, secrets, textOf, new Set(settings.in));
    return place && `leak: ${place}`;
  },
});

/** References that the policy can only know from reading them. */
function secretsOf({ question, references }: Task): string[] {
  const inQuestion = mentionsIn(question);
  return references.filter((reference) => {
    const words = wordsOf(reference);
    return !words.every(isFunctionWord) && !inQuestion(reference);
  });
}

function leakIn(
  trajectory: Trajectory,
  secrets: readonly string[],
  textOf: (segment: Segment) => string,
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
  summary: "Drops answers that nothing which was shown supports.",
  options: z.strictObject({
    /**
     * What supports an answer. answer: it stands in what was shown. passages: all supporting passages of the question came back. An
     * answer that the question names, or yes and no, can only be supported by passages.
     */
    evidence: z.enum(["answer", "passages", "either"]).default("either"),
    /** What becomes of a trajectory where only passages could tell, and the dataset tells none. */
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
      // An answer that could have been shown and was not has no support.
      if (sought.length > 0) return "answer not shown";
      return unknown === "keep" ? null : "passages not known";
    }
    const returned = new Set(returnedIds(trajectory));
    if (gold.every((id) => returned.has(id))) return null;
    return sought.length > 0 ? "answer not shown" : "passages not returned";
  },
});

/** Texts that support the answer: itself, and all references where it is right; none where the question names one of them. */
function namesToSeek(answer: string, { question, references }: Task): string[] {
  const names = exactMatch(answer, references) === 1 ? [answer, ...references] : [answer];
  const inQuestion = mentionsIn(question);
  if (names.some((name) => inQuestion(name))) return [];
  return names.filter((name) => !wordsOf(name).every(isFunctionWord));
}

function isShown(
  trajectory: Trajectory,
  names: readonly string[],
  textOf: (segment: Segment) => string,
): boolean {
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

/** The question and a right answer may be repeated at any length. */
export const noCopiedObservation = defineGate({
  name: "no-copied-observation",
  summary: "Drops messages that repeat long stretches of what their policy was shown.",
  options: z.strictObject({
    /**
     * So many words in a row, as they were shown, are a copy; articles are not counted. Names, titles and a quoted clause are shorter: of
     * 625 published traces of R1-Searcher 1 in 5 repeats 16 words, 1 in 20 repeats 24.
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
