/** Questions to the user about accepted answers that may be read wrongly: one text that looks like several answers, and the like. */
import { shorten } from "../base/format.ts";

/** Characters of a text in a notice. */
const SHOWN = 80;

interface Mark {
  /** As the user would write it after --answer-separator. */
  separator: string;
  pattern: RegExp;
  /** Least share of the questions with one accepted answer; marks that also occur within names need more. */
  share: number;
}

/** In this order: a text counts for the first mark in it. */
const MARKS: readonly Mark[] = [
  { separator: "|", pattern: /\|/, share: 0 },
  { separator: "\\n", pattern: /\S\s*\n\s*\S/, share: 0 },
  { separator: "\\t", pattern: /\t/, share: 0 },
  // Not the end of an HTML entity.
  { separator: ";", pattern: /(?<!&#?\w+);\s*\S/, share: 0 },
  { separator: "；", pattern: /；/, share: 0 },
  { separator: "、", pattern: /、/, share: 0 },
  { separator: "<sep>", pattern: /<sep>/i, share: 0 },
  { separator: " / ", pattern: /\S \/ \S/, share: 0.01 },
  { separator: " or ", pattern: /\S or \S/i, share: 0.01 },
  { separator: "/", pattern: /\p{L}{2}\/\p{L}{2}/u, share: 0.1 },
  { separator: ",", pattern: /\p{L}, ?\p{L}/u, share: 0.3 },
];

/** Other doubts, and what to do. */
const KINDS = {
  garbled: {
    says: "accepted answers that look wrongly decoded",
    advice: "No prediction can equal them: export the file again, as UTF-8.",
  },
  lists: {
    says: "a list of numbers within a text, read as several accepted answers",
    advice: "--answer-separator none makes such a text one answer.",
  },
  floats: {
    says: "whole numbers written as floats",
    advice:
      'A prediction without the .0 does not equal them: if they count or date something, store whole numbers (pandas: astype("Int64")).',
  },
} as const;

type Kind = keyof typeof KINDS;

/** "M\uFFFDller", "MÃ¼ller": decoded wrongly by or before the program that wrote the file. */
const GARBLED = /\uFFFD|[ÃÂ][\u0080-\u00BF]|â€/;
const FLOAT = /^-?\d+\.0$/;

/** Looks at the accepted answers of a file as they are read. */
export class AnswerDoubts {
  #questions = 0;
  #single = 0;
  /** Separators and kinds of doubt: how many, and where first. */
  readonly #found = new Map<Mark | Kind, { count: number; first: string }>();

  /**
   * @param texts of the record, as the file has them.
   * @param read the accepted answers in them.
   */
  add(
    texts: readonly string[],
    { answers, hasNumberList }: { answers: readonly string[]; hasNumberList: boolean },
    where: string,
  ): void {
    this.#questions += 1;
    this.#note(
      "garbled",
      where,
      answers.find((answer) => GARBLED.test(answer)),
    );
    this.#note(
      "floats",
      where,
      answers.find((answer) => FLOAT.test(answer)),
    );
    this.#note("lists", where, hasNumberList ? texts.join() : undefined);
    const [answer = "", ...others] = answers;
    if (others.length > 0) return;
    this.#single += 1;
    const mark = MARKS.find(({ pattern }) => pattern.test(answer));
    if (mark !== undefined) this.#note(mark, where, answer);
  }

  #note(what: Mark | Kind, where: string, text: string | undefined): void {
    if (text === undefined) return;
    const first = `${where}: ${JSON.stringify(shorten(text, SHOWN))}`;
    const found = this.#found.get(what) ?? { count: 0, first };
    found.count += 1;
    this.#found.set(what, found);
  }

  /** A sentence or two for each kind of doubt. */
  notices(): string[] {
    return [...this.#found].flatMap(([what, { count, first }]) => {
      const questions = `${count} of ${this.#questions} questions have`;
      if (typeof what === "string")
        return `${questions} ${KINDS[what].says} (${first}). ${KINDS[what].advice}`;
      if (count < what.share * this.#single) return [];
      return `${questions} one accepted answer that may be several (${first}). --answer-separator "${what.separator}" splits such texts; --answer-separator none says that each is one answer.`;
    });
  }
}
