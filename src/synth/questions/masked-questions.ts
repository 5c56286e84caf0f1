import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { DataError } from "../../base/errors.ts";
import { plural } from "../../base/format.ts";
import { type Random, random } from "../../base/random.ts";
import { comparedWords, mentionsIn, wordsOf } from "../../text/words.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { sentencesOf, type Span, spansOf } from "./spans.ts";

export interface MaskedSettings {
  /** Questions at most: one for each passage. */
  limit: number;
  seed: number;
  /** Passages that a question needs: its own, or also one that tells what is hidden in it. */
  hops: 1 | 2;
  /** Stands before the text with the gap. */
  ask: string;
}

export interface MaskedQuestions {
  tasks: Task[];
  /** For each question the sentences that it was made from, in the order in which they are needed. */
  told: string[][];
  passages: number;
}

export const DEFAULT_ASK = "What belongs in the gap marked ____?";

export const GAP = "____";
const HIDDEN = "[1]";
/** Passages that are kept for each question that is asked for: not each has a sentence with a name that stands nowhere else. */
const KEPT_PER_QUESTION = 12;
/** Words of a sentence beside the gap. */
const [FEWEST_WORDS, MOST_WORDS] = [6, 80];
/** A name that leads from one passage to another stands in this many passages at most. */
const MOST_LINKED = 5;

/**
 * Questions about a corpus with answers that are sure: a name or number is taken out of a sentence, where it stands in that passage and in no other. With
 * two hops another name in the sentence is hidden as well, and told by a sentence of another passage in which it is hidden too, so
 * that it must be found first. Equal passages, settings and seed give the same questions.
 *
 * Source: the masked spans of MaskSearch, arXiv 2505.20285, without a model that chooses them; hidden names in chains as in WebSailor,
 * arXiv 2507.02592.
 *
 * @param passages reads the corpus from its beginning; it is called twice.
 */
export async function maskedQuestions(
  passages: () => AsyncIterable<Passage>,
  { limit, seed, hops, ask }: MaskedSettings,
): Promise<MaskedQuestions> {
  const draw = random(seed).derive("masked questions");
  const { kept, count } = await sampleOf(passages(), limit * KEPT_PER_QUESTION, draw);
  const read = kept.map((passage) => ({ passage, sentences: factsOf(passage) }));
  const keys = new Set(read.flatMap(({ sentences }) => sentences.flatMap(({ spans }) => spans.flatMap(keysOf)))); // prettier-ignore
  const places = await placesOf(keys, passages());
  const known = new Map(read.map((each) => [each.passage.id, each]));
  const tasks: Task[] = [];
  const told: string[][] = [];
  for (const own of draw.derive("order").shuffle(read)) {
    if (tasks.length === limit) break;
    const asked = hops === 1 ? oneHop(own, places, draw) : twoHops(own, places, known, draw);
    if (asked === null) continue;
    const { text, answer, from } = asked;
    told.push(asked.told);
    tasks.push({
      id: `masked-${seed}-${tasks.length}`,
      question: `${ask} ${text}`,
      references: [answer],
      source: "masked",
      annotations: { type: hops === 1 ? "gap" : "gap-chain", hops, supportingPassages: from },
    });
  }
  return { tasks, told, passages: count };
}

/** @throws {DataError} QUESTIONS_NOT_MADE where there is none. @param where the index or corpus. */
export function requireQuestions(tasks: readonly Task[], where: string, passages: number): void {
  if (tasks.length > 0) return;
  throw new DataError(
    "QUESTIONS_NOT_MADE",
    `${where}: of ${plural(passages, "passage")} none has a sentence of ${FEWEST_WORDS} to ${MOST_WORDS} words with a name or number that stands in no other passage (for two hops, beside a name that a second passage tells). Take --hops 1, or passages of whole sentences.`,
  );
}

/** The questions as a file has them, a line of JSON each. */
export function questionLines(tasks: readonly Task[]): string {
  return tasks.map((task) => `${JSON.stringify(task)}\n`).join("");
}

interface Fact {
  sentence: string;
  spans: Span[];
}

interface Read {
  passage: Passage;
  sentences: Fact[];
}

interface Asked {
  text: string;
  answer: string;
  /** Ids of the passages, in the order in which they are needed. */
  from: string[];
  /** Their sentences, with nothing hidden. */
  told: string[];
}

/** Passages by which each key of a few is told, at most one more than a link may have. */
type Places = ReadonlyMap<string, readonly string[]>;

/** A sample of the passages in which each is as likely (reservoir), and how many there are. */
async function sampleOf(
  passages: AsyncIterable<Passage>,
  size: number,
  draw: Random,
): Promise<{ kept: Passage[]; count: number }> {
  const kept: Passage[] = [];
  const choice = draw.derive("sample");
  let count = 0;
  for await (const passage of passages) {
    count += 1;
    if (kept.length < size) kept.push(passage);
    else {
      const place = choice.int(count);
      if (place < size) kept[place] = passage;
    }
  }
  return { kept, count };
}

function factsOf({ text }: Passage): Fact[] {
  return sentencesOf(text).flatMap((sentence) => {
    const { length } = wordsOf(sentence);
    return length < FEWEST_WORDS || length > MOST_WORDS || !isWhole(sentence)
      ? []
      : [{ sentence, spans: spansOf(sentence).filter((span) => keysOf(span)[0] !== "") }];
  });
}

/** Not cut off where a text was split into passages, and no heading. */
function isWhole(sentence: string): boolean {
  return !/^\P{L}*\p{Ll}/u.test(sentence) && /[.!?…。！？।۔።]["'”’»)\]]*$/u.test(sentence);
}

/** As which words a text may be found: its own, and those without signs in them, as answers are compared (2.15 and 215). */
function wordsFound(text: string): string[][] {
  return [wordsOf(text), comparedWords(text)];
}

function keysOf({ text }: Span): string[] {
  return wordsFound(text).map((words) => words.join(" "));
}

async function placesOf(
  keys: ReadonlySet<string>,
  passages: AsyncIterable<Passage>,
): Promise<Places> {
  const longest = [...keys].reduce((most, key) => Math.max(most, key.split(" ").length), 0);
  const places = new Map<string, string[]>();
  for await (const { id, title, text } of passages) {
    const found = new Set<string>();
    for (const words of wordsFound(`${title}\n${text}`)) {
      words.forEach((first, i) => {
        for (let n = 1, key = first; n <= longest; n++) {
          if (keys.has(key)) found.add(key);
          const next = words[i + n];
          if (next === undefined) break;
          key = `${key} ${next}`;
        }
      });
    }
    for (const key of found) {
      const known = places.get(key);
      if (known === undefined) places.set(key, [id]);
      else if (known.length <= MOST_LINKED) known.push(id);
    }
  }
  return places;
}

function oneHop({ passage, sentences }: Read, places: Places, draw: Random): Asked | null {
  const choice = draw.derive("span", passage.id);
  for (const { sentence, spans } of choice.shuffle(sentences)) {
    for (const span of choice.shuffle(spans.filter((each) => isOnly(each, passage, places)))) {
      const text = without(sentence, span.text, GAP);
      if (isAskable(text, span.text)) {
        return { text, answer: span.text, from: [passage.id], told: [sentence] };
      }
    }
  }
  return null;
}

function twoHops(
  { passage, sentences }: Read,
  places: Places,
  known: ReadonlyMap<string, Read>,
  draw: Random,
): Asked | null {
  const choice = draw.derive("chain", passage.id);
  for (const { sentence, spans } of choice.shuffle(sentences)) {
    for (const answer of choice.shuffle(spans.filter((each) => isOnly(each, passage, places)))) {
      for (const name of spans) {
        if (name.from < answer.to && answer.from < name.to) continue;
        const told = tellerOf(name, passage, places, known);
        if (told === null) continue;
        const asked = without(without(sentence, answer.text, GAP), name.text, HIDDEN);
        const text = `${asked} ${HIDDEN}: ${told.text}`;
        const isHidden = asked.includes(GAP) && !mentionsIn(text)(name.text);
        if (!isHidden || !isAskable(text, answer.text)) continue;
        const from = [told.passage, passage.id];
        return { text, answer: answer.text, from, told: [told.sentence, sentence] };
      }
    }
  }
  return null;
}

/** A sentence of another passage that tells of a name, with the name hidden. */
function tellerOf(
  name: Span,
  { id }: Passage,
  places: Places,
  known: ReadonlyMap<string, Read>,
): { text: string; passage: string; sentence: string } | null {
  const linked = [...new Set(keysOf(name).flatMap((key) => places.get(key) ?? []))];
  if (linked.length < 2 || linked.length > MOST_LINKED) return null;
  for (const other of linked) {
    if (other === id) continue;
    for (const { sentence } of known.get(other)?.sentences ?? []) {
      const text = without(sentence, name.text, HIDDEN);
      if (text.includes(HIDDEN) && !mentionsIn(text)(name.text)) {
        return { text, passage: other, sentence };
      }
    }
  }
  return null;
}

/** Whether a passage is the only one that has a span, and its title does not tell it. */
function isOnly(span: Span, { id, title }: Passage, places: Places): boolean {
  const found = keysOf(span).flatMap((key) => places.get(key) ?? []);
  return found.length > 0 && found.every((place) => place === id) && !mentionsIn(title)(span.text);
}

function isAskable(text: string, answer: string): boolean {
  return text.includes(GAP) && wordsOf(text).length >= FEWEST_WORDS && !mentionsIn(text)(answer);
}

/** A sentence with a mark for each mention of a name, as whole words where words are separated. */
function without(sentence: string, name: string, mark: string): string {
  const literal = escapeRegExp(name);
  const isApart = /[\p{Lu}\p{Ll}\p{N}]/u.test(name);
  const pattern = isApart ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal;
  return sentence.replaceAll(new RegExp(pattern, "gu"), mark);
}
