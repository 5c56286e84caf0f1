import type { Passage } from "../../trajectory/task.ts";
import type { Kind } from "./names.ts";
import { conditionsOf } from "./questions.ts";
import { NOUNS, RELATIONS, type Relation } from "./relations.ts";
import { ALIAS_WORDINGS, FILLERS, INTERSECTIONS, RUMOURS, SOURCE_STYLES } from "./text.ts";

/** Facts parsed from a passage. */
export interface PassageReading {
  kind: Kind | null;
  /** The name by which other texts call the title's entity: "the painter Fala Rosholt" for the title "Fala Rosholt, painter". */
  name: string;
  /** Value and sentence number by relation name. */
  facts: Map<string, { value: string; sentence: number }>;
  alias: { value: string; sentence: number } | null;
  rumours: { relation: Relation; value: string }[];
  /** All sentences but filler and rumours: what the passage states. */
  statements: string;
  problems: string[];
}

/** A chain of relations from a name. */
export type ChainReading = { anchor: string; chain: Relation[] };

/** A parsed question. */
export type QuestionReading =
  | ({ type: "bridge" } & ChainReading)
  | { type: "comparison" | "yes-no"; relation: Relation; x: string; y: string }
  | { type: "compare-chains"; relation: Relation; x: ChainReading; y: ChainReading }
  | { type: "intersect"; x: string; y: string; conditions: readonly (readonly Relation[])[] };

const BARE = "[A-Z][a-z]+(?: [A-Z][a-z]+){1,2}";
const NOUN = `(?:${[...new Set(Object.values(NOUNS).flat())].join("|")})`;
const NAME = `(?:the ${NOUN} )?${BARE}`;
const REF = `(?:He|She|It|The ${NOUN})`;

const STATEMENTS = RELATIONS.flatMap((relation) => {
  const o = relation.object === "year" ? String.raw`(?<o>\d{4})` : `(?<o>${NAME})`;
  const prose = relation.wordings.map(({ statement }) =>
    pattern(statement, { s: `(?:He|She|It|(?<s>${BARE}))`, ref: REF, noun: NOUN, o }),
  );
  const rows = Object.values(SOURCE_STYLES).map((style) =>
    pattern(style, { label: relation.label, o }),
  );
  return [...prose, ...rows].map((statement) => ({ relation, pattern: statement }));
});
const ALIASES = ALIAS_WORDINGS.map(({ statement }) =>
  pattern(statement, { ref: REF, o: `(?<o>${BARE})` }),
);
const RUMOUR = new RegExp(`^(?:${RUMOURS.join("|")}) (?<said>.+)$`);
const FILLER = FILLERS.map((template) => {
  const name = `(?:[Tt]he ${NOUN} )?${BARE}`;
  return pattern(template, { person: name, town: name, firm: name });
});

const QUESTIONS = RELATIONS.flatMap((relation) => askers(relation, relation.questions));
const PHRASES = RELATIONS.flatMap((relation) => askers(relation, relation.phrases));
const TWO_NAMES = { x: `(?<x>${NAME})`, y: `(?<y>${NAME})` };
const PAIRS = RELATIONS.flatMap((relation) => {
  const make = (type: "comparison" | "yes-no", template: string | undefined) =>
    template === undefined ? [] : [{ type, relation, pattern: pattern(template, TWO_NAMES) }];
  return [...make("comparison", relation.comparison), ...make("yes-no", relation.same)];
});
const CHAIN_PAIRS = RELATIONS.flatMap((relation) =>
  relation.comparison === undefined
    ? []
    : [{ relation, pattern: pattern(relation.comparison, { x: "(?<x>.+)", y: "(?<y>.+)" }) }],
);
const CONDITIONS = INTERSECTIONS.map((intersection) => ({
  conditions: conditionsOf(intersection),
  pattern: pattern(intersection.question, TWO_NAMES),
}));

/** Parses a passage by templates: every sentence states one fact of the title, a less reliable source's statement, or is filler. */
export function readPassage(passage: Passage): PassageReading {
  const [, bare = passage.title, noun] = TITLE.exec(passage.title) ?? [];
  const reading: PassageReading = {
    kind: null,
    name: noun === undefined ? bare : `the ${noun} ${bare}`,
    facts: new Map(),
    alias: null,
    rumours: [],
    statements: "",
    problems: [],
  };
  for (const [number, sentence] of passage.text.split(/(?<=\.) /).entries()) {
    if (FILLER.some((filler) => filler.test(sentence))) continue;
    const said = RUMOUR.exec(sentence)?.groups?.["said"];
    if (said === undefined) {
      reading.statements += `${sentence} `;
      readStatement(reading, bare, sentence, number);
      continue;
    }
    const found = statementIn(`${said[0]?.toUpperCase() ?? ""}${said.slice(1)}`, reading.kind);
    if (found === null) reading.problems.push(unknown(number, sentence));
    else reading.rumours.push(found);
  }
  return reading;
}

const TITLE = new RegExp(`^(${BARE}), (${NOUN})$`);

function unknown(number: number, sentence: string): string {
  return `sentence ${number} ("${sentence}") states no known fact`;
}

function readStatement(
  reading: PassageReading,
  bare: string,
  sentence: string,
  number: number,
): void {
  const alias = ALIASES.map((each) => each.exec(sentence)?.groups?.["o"]).find(Boolean);
  if (alias !== undefined && reading.alias === null) {
    reading.alias = { value: alias, sentence: number };
    return;
  }
  const found = statementIn(sentence, reading.kind);
  if (found === null) {
    reading.problems.push(unknown(number, sentence));
    return;
  }
  const { relation, subject, value } = found;
  reading.kind ??= relation.subject;
  if (subject !== undefined && subject !== bare) {
    reading.problems.push(`sentence ${number} states the ${relation.label} of "${subject}"`);
  } else if (reading.facts.has(relation.name)) {
    reading.problems.push(`sentence ${number} states the ${relation.label} again`);
  } else {
    reading.facts.set(relation.name, { value, sentence: number });
  }
}

/** Every parse of a question: exactly one if it is unambiguous; none if it is not in the language. */
export function readQuestion(text: string): QuestionReading[] {
  const pairs = PAIRS.flatMap(({ type, relation, pattern }): QuestionReading[] => {
    const { x, y } = pattern.exec(text)?.groups ?? {};
    return x === undefined || y === undefined ? [] : [{ type, relation, x, y }];
  });
  const chains = chainsIn(text, QUESTIONS, null).map((each) => ({
    type: "bridge" as const,
    ...each,
  }));
  return [...pairs, ...chains, ...chainPairsIn(text), ...conditionsIn(text)];
}

function chainPairsIn(text: string): QuestionReading[] {
  return CHAIN_PAIRS.flatMap(({ relation, pattern }) => {
    const { x = "", y = "" } = pattern.exec(text)?.groups ?? {};
    return chainsIn(x, PHRASES, relation.subject).flatMap((first) =>
      chainsIn(y, PHRASES, relation.subject).map((second) => ({
        type: "compare-chains" as const,
        relation,
        x: first,
        y: second,
      })),
    );
  });
}

function conditionsIn(text: string): QuestionReading[] {
  return CONDITIONS.flatMap(({ conditions, pattern }) => {
    const { x, y } = pattern.exec(text)?.groups ?? {};
    return x === undefined || y === undefined
      ? []
      : [{ type: "intersect" as const, x, y, conditions }];
  });
}

/** Names of entities in a text: all runs of two or three capitalised words, and "the painter Fala Rosholt" beside "Fala Rosholt". */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const [run] of text.matchAll(/[A-Z][a-z]+(?: [A-Z][a-z]+)+/g)) {
    const words = run.split(" ");
    for (let at = 0; at + 1 < words.length; at++) {
      names.add(words.slice(at, at + 2).join(" "));
      if (at + 2 < words.length) names.add(words.slice(at, at + 3).join(" "));
    }
  }
  for (const [, noun, name] of text.matchAll(NOUN_AND_NAME))
    names.add(`the ${noun ?? ""} ${name ?? ""}`);
  return names;
}

const NOUN_AND_NAME = new RegExp(String.raw`\b[Tt]he (${NOUN}) (${BARE})`, "g");

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

type Asker = { relation: Relation; pattern: RegExp };

function askers(relation: Relation, templates: readonly string[]): Asker[] {
  return templates.map((template) => ({ relation, pattern: pattern(template, { x: "(?<x>.+)" }) }));
}

function chainsIn(text: string, askers: readonly Asker[], outer: Kind | null): ChainReading[] {
  return askers.flatMap(({ relation, pattern }) => {
    if (outer !== null && relation.object !== outer) return [];
    const inner = pattern.exec(text)?.groups?.["x"];
    if (inner === undefined) return [];
    if (NAME_ONLY.test(inner)) return [{ anchor: inner, chain: [relation] }];
    return chainsIn(inner, PHRASES, relation.subject).map(({ anchor, chain }) => ({
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
