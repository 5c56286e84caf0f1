/** A text within a sentence that a question may ask for. */
export interface Span {
  text: string;
  /** Characters in the sentence, end exclusive. */
  from: number;
  to: number;
}

/** A name or number may go on over these, and does not end with them. */
const NAME = /\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?:\s+\p{Lu}[\p{L}\p{M}\p{N}'’.-]*)*/gu;
const NUMBER = /\p{N}[\p{N}.,:]*\p{N}/gu;
const TRAILING = /['’.,:-]+$/u;
const CASED = /\p{Lu}|\p{Ll}/u;
const SEVERAL_LETTERS = /^\p{Lo}[\p{Lo}\p{M}]+$/u;

const words = new Intl.Segmenter(undefined, { granularity: "word" });
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** The sentences of a text of any language, by Unicode's rules. */
export function sentencesOf(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment.trim()).filter(
    (sentence) => sentence !== "",
  );
}

/**
 * What a sentence tells that can be asked for: numbers of at least two digits, and names. Where letters have two cases, a name is one or
 * more words with capitals, not a single word that begins the sentence; elsewhere each word of at least two letters may be one.
 * @example spansOf("In 1875 Grieg moved to Bergen.") // 1875, Grieg, Bergen
 */
export function spansOf(sentence: string): Span[] {
  const found = [...matches(sentence, NUMBER), ...namesIn(sentence)];
  return found.sort((a, b) => a.from - b.from);
}

function namesIn(sentence: string): Span[] {
  if (!CASED.test(sentence))
    return Array.from(words.segment(sentence)).flatMap(({ segment: text, index: from }) =>
      SEVERAL_LETTERS.test(text) ? [{ text, from, to: from + text.length }] : [],
    );
  const first = sentence.search(/[\p{L}\p{N}]/u);
  return matches(sentence, NAME).filter(
    ({ text, from }) => text.length > 1 && (from > first || /\s/.test(text)),
  );
}

function matches(sentence: string, pattern: RegExp): Span[] {
  return Array.from(sentence.matchAll(pattern), ({ 0: whole, index: from }) => {
    const text = whole.replace(TRAILING, "");
    return { text, from, to: from + text.length };
  }).filter(({ text }) => text !== "");
}
