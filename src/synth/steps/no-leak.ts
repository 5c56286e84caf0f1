import { z } from "../../base/schema.ts";
import { isFunctionWord, mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { defineGate } from "./define-step.ts";
import { callsOf, mainTurns, policyText, shownAfter, shownBefore } from "./main-line.ts";

const PLACES = ["hint", "query", "thought"] as const;

type Place = (typeof PLACES)[number];

const options = z.strictObject({
  /**
   * Where an answer may not stand. hint: what was put into messages or prompts. query, thought: a message that searches, before the
   * answer was read.
   */
  in: z
    .array(z.enum(PLACES))
    .min(1)
    .default([...PLACES]),
});

/**
 * The references are what leaks: those that stand in the question, yes and no, and words such as "who" tell nothing. A message that
 * answers may name what nobody read: whether that is supported is another gate's.
 */
export const noLeak = defineGate({
  name: "no-leak",
  summary: "Drops what gives the answer away before it was read: in a hint, a query or a thought.",
  options,
  why({ trajectory }, task, { textOf, settings }) {
    const secrets = secretsOf(task);
    if (secrets.length === 0) return null;
    const place = leakIn(trajectory, secrets, textOf, new Set(settings.in));
    return place && `leak: ${place}`;
  },
});

/** References that whoever has not read them cannot know. */
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
