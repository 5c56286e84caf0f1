import type { Passage } from "../../trajectory/task.ts";
import type { Kind } from "./names.ts";
import { RELATIONS, type Relation } from "./relations.ts";

/** Facts parsed from a passage. */
export interface PassageReading {
  kind: Kind | null;
  /** Value and sentence number by relation name. */
  facts: Map<string, { value: string; sentence: number }>;
  /** Unparsable, repeated or misplaced facts. */
  problems: string[];
}

/** A parsed question. */
export type QuestionReading =
  | { type: "bridge"; anchor: string; chain: Relation[] }
  | { type: "comparison" | "yes-no"; relation: Relation; x: string; y: string };

const NAME = "[A-Z][a-z]+(?: [A-Z][a-z]+){1,2}";

const STATEMENTS = RELATIONS.flatMap((relation) =>
  relation.wordings.map(({ statement }) => ({
    relation,
    pattern: pattern(statement, {
      s: `(?:He|She|It|(?<s>${NAME}))`,
      ref: "(?:He|She|It|The [a-z]+)",
      noun: "[a-z]+",
      o: relation.object === "year" ? String.raw`(?<o>\d{4})` : `(?<o>${NAME})`,
    }),
  })),
);

const QUESTIONS = RELATIONS.flatMap((relation) => askers(relation, relation.questions));
const PHRASES = RELATIONS.flatMap((relation) => askers(relation, relation.phrases));
const PAIRS = RELATIONS.flatMap((relation) => {
  const slots = { x: `(?<x>${NAME})`, y: `(?<y>${NAME})` };
  const make = (type: "comparison" | "yes-no", template: string | undefined) =>
    template === undefined ? [] : [{ type, relation, pattern: pattern(template, slots) }];
  return [...make("comparison", relation.comparison), ...make("yes-no", relation.same)];
});

/**
 * Parses a passage sentence by sentence, by the language's templates only. Every sentence must
 * state one fact about the passage's title, and no relation may occur twice.
 */
export function readPassage(passage: Passage): PassageReading {
  const reading: PassageReading = { kind: null, facts: new Map(), problems: [] };
  for (const [number, sentence] of passage.text.split(/(?<=\.) /).entries()) {
    const found = statementIn(sentence, reading.kind);
    if (found === null) {
      reading.problems.push(`sentence ${number} ("${sentence}") states no known fact`);
      continue;
    }
    const { relation, subject, value } = found;
    reading.kind ??= relation.subject;
    if (subject !== undefined && subject !== passage.title) {
      reading.problems.push(`sentence ${number} states the ${relation.label} of "${subject}"`);
    } else if (reading.facts.has(relation.name)) {
      reading.problems.push(`sentence ${number} states the ${relation.label} again`);
    } else {
      reading.facts.set(relation.name, { value, sentence: number });
    }
  }
  return reading;
}

/** Every parse of a question: exactly one if it is unambiguous; none if it is not in the language. */
export function readQuestion(text: string): QuestionReading[] {
  const pairs = PAIRS.flatMap(({ type, relation, pattern }): QuestionReading[] => {
    const { x, y } = pattern.exec(text)?.groups ?? {};
    return x === undefined || y === undefined ? [] : [{ type, relation, x, y }];
  });
  return [...pairs, ...chainsIn(text, QUESTIONS, null)];
}

/** Names of entities in a text: all runs of two or three capitalised words, including parts of longer runs. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const [run] of text.matchAll(/[A-Z][a-z]+(?: [A-Z][a-z]+)+/g)) {
    const words = run.split(" ");
    for (let at = 0; at + 1 < words.length; at++) {
      names.add(words.slice(at, at + 2).join(" "));
      if (at + 2 < words.length) names.add(words.slice(at, at + 3).join(" "));
    }
  }
  return names;
}

function statementIn(
  sentence: string,
  kind: Kind | null,
): { relation: Relation; subject: string | undefined; value: string } | null {
  for (const { relation, pattern } of STATEMENTS) {
    if (kind !== null && relation.subject !== kind) continue;
    const groups = pattern.exec(sentence)?.groups;
    if (groups?.["o"] !== undefined) return { relation, subject: groups["s"], value: groups["o"] };
  }
  return null;
}

interface Asker {
  relation: Relation;
  pattern: RegExp;
}

function askers(relation: Relation, templates: readonly string[]): Asker[] {
  return templates.map((template) => ({ relation, pattern: pattern(template, { x: "(?<x>.+)" }) }));
}

/** Parses a question or phrase from the outside in; `outer` is the required type of its value. */
function chainsIn(
  text: string,
  askers: readonly Asker[],
  outer: Kind | null,
): { type: "bridge"; anchor: string; chain: Relation[] }[] {
  return askers.flatMap(({ relation, pattern }) => {
    if (outer !== null && relation.object !== outer) return [];
    const inner = pattern.exec(text)?.groups?.["x"];
    if (inner === undefined) return [];
    if (NAME_ONLY.test(inner))
      return [{ type: "bridge" as const, anchor: inner, chain: [relation] }];
    return chainsIn(inner, PHRASES, relation.subject).map(({ type, anchor, chain }) => ({
      type,
      anchor,
      chain: [...chain, relation],
    }));
  });
}

const NAME_ONLY = new RegExp(`^${NAME}$`);

function pattern(template: string, slots: Readonly<Record<string, string>>): RegExp {
  const source = template
    .split(/(\{\w+\})/)
    .map((part) => slots[part.slice(1, -1)] ?? part.replaceAll(/[.?]/g, String.raw`\$&`))
    .join("");
  return new RegExp(`^${source}$`);
}
