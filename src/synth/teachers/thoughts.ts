import type { Random } from "../../base/random.ts";
import { mentionsIn } from "../../text/words.ts";
import type { Query } from "./queries.ts";
import type { NeededPassage, SoughtStep } from "./sought-steps.ts";

/** Results of the searches so far that a thought may mention. */
export interface ThoughtPlace {
  settled: readonly SoughtStep[];
  /** Passages that were read, of those needed. */
  found: readonly NeededPassage[];
  /** Whether there was a search, and whether one found anything. */
  hasSearched: boolean;
  hasFound: boolean;
  isTextRead: (text: string) => boolean;
  inQuestion: (text: string) => boolean;
}

const NOTHING_NEW = [
  "That did not help.",
  "None of this is what I am after.",
  "That is not it yet.",
  "These passages do not tell.",
];

/** The thought before a search: the result of the last one, and the next goal. */
export function searchThought(
  { text, reason, name = "" }: Query,
  place: ThoughtPlace,
  draw: Random,
): string {
  const why = ended(draw.pick(reasonsFor({ text, reason, name }, place)));
  const news = newsOf(place, draw);
  const title = place.settled[0]?.passage?.title ?? "";
  // A reason that names the passage needs no further news.
  return (title !== "" && why.includes(title) ? [why] : [...news, why]).join(" ");
}

/** The thought before an answer. @param answer null if the thought must not name it: it was not read, or the question names it. */
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

/** The thought before an answer that comes too early. */
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
  if (place.inQuestion(name))
    return place.hasFound
      ? [`I should read about ${name} as well`, `The question names ${name}, too`]
      : [`I begin with ${name}`, `The question names ${name}, so I look that up first`];
  const source = sourceOf(name, place);
  if (source === null)
    return [`${name} comes up there, so I look that up`, `That leads to ${name}`];
  return [
    `${source} names ${name}, so I look that up`,
    `From ${source} I go on to ${name}`,
    `Now I should read about ${name}, which ${source} names`,
  ];
}

function sourceOf(text: string, { found }: ThoughtPlace): string | null {
  const passage = found.find((each) => each.title !== "" && mentionsIn(each.text)(text));
  return passage?.title ?? null;
}

/** Whether a step is a noun phrase instead of a question: "director of Polish-Russian War". */
function isPhrase(wanted: string): boolean {
  return !wanted.endsWith("?") && / of /.test(wanted);
}

/** "A", "A and B", "A, B and C". */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(", "), ...names.slice(-1)]
    .filter((part) => part !== "")
    .join(" and ");
}

function ended(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
