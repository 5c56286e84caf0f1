import type { Random } from "../../base/random.ts";
import { mentionsIn } from "../../text/words.ts";
import type { Query } from "./queries.ts";
import type { NeededPassage, SoughtStep } from "./sought-steps.ts";

/** What has come of the searches so far, as far as a thought may tell it. */
export interface ThoughtPlace {
  /** Steps that the last search settled. */
  settled: readonly SoughtStep[];
  /** Passages that were read, of those needed. */
  found: readonly NeededPassage[];
  /** Whether anything was searched for yet, and anything found. */
  hasSearched: boolean;
  hasFound: boolean;
  /** Whether a text stands in what was read. */
  isTextRead: (text: string) => boolean;
  inQuestion: (text: string) => boolean;
}

const NOTHING_NEW = [
  "That did not help.",
  "None of this is what I am after.",
  "That is not it yet.",
  "These passages do not tell.",
];

/** Why a search is made: what the last one brought, and what is looked for now. */
export function searchThought(
  { text, reason, name = "" }: Query,
  place: ThoughtPlace,
  draw: Random,
): string {
  const why = ended(draw.pick(reasonsFor({ text, reason, name }, place)));
  const news = newsOf(place, draw);
  const title = place.settled[0]?.passage?.title ?? "";
  // What leads on from a passage says which it was.
  return (title !== "" && why.includes(title) ? [why] : [...news, why]).join(" ");
}

/** Why an answer is given now. @param answer told where it may be: it was read, and is no name of the question's. */
export function answerThought(answer: string | null, place: ThoughtPlace, draw: Random): string {
  if (answer === null) {
    const titles = place.found.map(({ title }) => title).filter((title) => title !== "");
    const both = titles.length < 2 ? [] : [`I have read about ${listed(titles)}, so I can tell.`];
    const enough = ["Now I have read all that I need.", "That is enough to tell.", ...both];
    return [...newsOf(place, draw), draw.pick(enough)].join(" ");
  }
  const source = sourceOf(answer, place);
  const cited =
    source === null
      ? []
      : [`${source} tells it: ${answer}`, `I read it under ${source}: ${answer}`];
  const plain = [`There it is: ${answer}`, `So the answer is ${answer}`, ...cited];
  return ended(draw.pick(plain));
}

/** Why an answer is given too soon. */
export function hastyThought(hasFound: boolean, draw: Random): string {
  return draw.pick(
    hasFound
      ? ["This should be it.", "That looks like the answer.", "I take what I just read."]
      : ["I think I know this.", "I need not look that up.", "I would say that I know."],
  );
}

function newsOf(place: ThoughtPlace, draw: Random): string[] {
  const { settled, hasSearched, isTextRead } = place;
  const [step] = settled;
  if (step === undefined) return hasSearched ? [draw.pick(NOTHING_NEW)] : [];
  const { wanted, answer, passage } = step;
  if (answer !== null && isTextRead(answer)) {
    if (wanted !== null && isPhrase(wanted)) return [ended(`The ${wanted} is ${answer}`)];
    return [ended(draw.pick([`So that is ${answer}`, `That gives me ${answer}`]))];
  }
  const title = passage?.title ?? "";
  if (title === "") return [draw.pick(["That helps.", "Good, that is one thing."])];
  return [ended(draw.pick([`Here is ${title}`, `I have found ${title}`, `That is ${title}`]))];
}

function reasonsFor(query: Required<Query>, place: ThoughtPlace): string[] {
  const { text, reason, name } = query;
  const { hasSearched, hasFound } = place;
  switch (reason) {
    case "wanted":
      if (!isPhrase(text))
        return [`What I have to find out: ${text}`, `The next question: ${text}`];
      return hasFound
        ? [`I still need the ${text}`, `I still have to find out the ${text}`]
        : [`I need to know the ${text}`, `First I have to find out the ${text}`];
    case "named":
      return reasonsForName(name, place);
    case "narrowed":
      return [
        `I ask about ${name} in more words`,
        `Something more may tell which ${name} is meant`,
      ];
    case "question":
      return hasSearched
        ? ["I search for the question as it stands", "I try the whole question"]
        : ["I do not know this, so I search for it", "I start from the question as it stands"];
    case "words":
      return ["I try it in fewer words", "The words that matter may find more"];
    case "clues":
      return ["I put together what I have to go on", "I try again with the clues that I have"];
  }
}

function reasonsForName(name: string, place: ThoughtPlace): string[] {
  if (place.inQuestion(name)) {
    return place.hasFound
      ? [`I should read about ${name} as well`, `The question names ${name}, too`]
      : [`I begin with ${name}`, `The question names ${name}, so I look that up first`];
  }
  const source = sourceOf(name, place);
  if (source === null)
    return [`${name} comes up there, so I look that up`, `That leads to ${name}`];
  return [
    `${source} names ${name}, so I look that up`,
    `From ${source} I go on to ${name}`,
    `Now I should read about ${name}, which ${source} names`,
  ];
}

/** The title of a passage that was read and holds a text; null where none is known to. */
function sourceOf(text: string, { found }: ThoughtPlace): string | null {
  const passage = found.find((each) => each.title !== "" && mentionsIn(each.text)(text));
  return passage?.title ?? null;
}

/** Whether a step is no question but a thing that can be spoken of: "director of Polish-Russian War". */
function isPhrase(wanted: string): boolean {
  return !wanted.endsWith("?") && / of /.test(wanted);
}

/** "A", "A and B", "A, B and C". */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)]
    .filter((part) => part !== "")
    .join(" and ");
}

/** A sentence with one sign at its end. */
function ended(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
