import type { Kind } from "./names.ts";

/**
 * One kind of fact, with all its English sentences. Slots:
 * `{s}` the subject's name, `{ref}` the subject again ("He", "It", "The firm"), `{noun}` its noun, `{o}` the value,
 * and in questions `{x}` (and `{y}`) the subject: a name, or a phrase that leads to it.
 */
export interface Relation {
  readonly name: string;
  readonly subject: Kind;
  /** Type of the value. There are many values, so that a guess rarely scores; each subject has exactly one. */
  readonly object: Kind | "year";
  /** Short name of the value: "birthplace" in the step "birthplace of Aldo Brenn". Unique within the kind. */
  readonly label: string;
  /** Sentences for the fact. */
  readonly statements: readonly string[];
  /** Noun phrases for the value; none for years, which cannot be a subject. */
  readonly phrases: readonly string[];
  readonly questions: readonly string[];
  /** Asks which of two subjects has the smaller year. */
  readonly comparison?: string;
  /** Asks whether two subjects share the value. */
  readonly same?: string;
}

/** Nouns of each kind; each entity has one. They vary the text, and no question asks for them. */
export const NOUNS: Record<Kind, readonly string[]> = {
  person: [
    "painter",
    "baker",
    "doctor",
    "lawyer",
    "farmer",
    "sailor",
    "tailor",
    "poet",
    "judge",
    "pilot",
  ],
  town: ["town"],
  region: ["region"],
  firm: ["firm"],
  work: ["novel", "play", "poem", "tale", "saga"],
  event: ["festival", "fair", "race", "feast", "contest"],
};

/** First and last possible year. */
export const YEARS = { first: 1850, last: 1999 } as const;

/**
 * All relations; the order within a kind is the order of its sentences. Every inverse must be
 * computable: see `facts.ts`.
 */
export const RELATIONS: readonly Relation[] = [
  {
    name: "person-birth-year",
    subject: "person",
    object: "year",
    label: "birth year",
    statements: ["{s} is a {noun} born in {o}.", "{s} was born in {o}."],
    phrases: [],
    questions: ["When was {x} born?", "In which year was {x} born?"],
    comparison: "Who was born first, {x} or {y}?",
  },
  {
    name: "person-birthplace",
    subject: "person",
    object: "town",
    label: "birthplace",
    statements: ["{ref} was born in {o}.", "{ref} comes from {o}."],
    phrases: ["the birthplace of {x}", "the town where {x} was born"],
    questions: ["Where was {x} born?", "In which town was {x} born?"],
    same: "Were {x} and {y} born in the same town?",
  },
  {
    name: "person-employer",
    subject: "person",
    object: "firm",
    label: "employer",
    statements: ["{ref} works for {o}.", "{ref} works at {o}."],
    phrases: ["the employer of {x}", "the firm that employs {x}"],
    questions: ["Which firm employs {x}?", "For which firm does {x} work?"],
    same: "Do {x} and {y} work for the same firm?",
  },
  {
    name: "person-teacher",
    subject: "person",
    object: "person",
    label: "teacher",
    statements: ["{ref} was taught by {o}.", "{ref} studied under {o}."],
    phrases: ["the teacher of {x}", "the person who taught {x}"],
    questions: ["Who taught {x}?", "Who was the teacher of {x}?"],
  },
  {
    name: "town-region",
    subject: "town",
    object: "region",
    label: "region",
    statements: ["{s} is a town in {o}.", "{s} is one of the towns of {o}."],
    phrases: ["the region of {x}", "the region around {x}"],
    questions: ["In which region is {x}?", "Which region includes {x}?"],
    same: "Are {x} and {y} in the same region?",
  },
  {
    name: "town-mayor",
    subject: "town",
    object: "person",
    label: "mayor",
    statements: ["Its mayor is {o}.", "{ref} has a mayor, {o}."],
    phrases: ["the mayor of {x}"],
    questions: ["Who is the mayor of {x}?", "Who is mayor in {x}?"],
  },
  {
    name: "town-founded",
    subject: "town",
    object: "year",
    label: "founding year",
    statements: ["{ref} was founded in {o}.", "{ref} dates from {o}."],
    phrases: [],
    questions: ["When was {x} founded?", "In which year was {x} founded?"],
    comparison: "Which town was founded first, {x} or {y}?",
  },
  {
    name: "region-capital",
    subject: "region",
    object: "town",
    label: "capital",
    statements: ["{s} is a region with the capital {o}.", "{s} is a region ruled from {o}."],
    phrases: ["the capital of {x}"],
    questions: ["What is the capital of {x}?", "Which town is the capital of {x}?"],
  },
  {
    name: "region-governor",
    subject: "region",
    object: "person",
    label: "governor",
    statements: ["Its governor is {o}.", "{ref} has a governor, {o}."],
    phrases: ["the governor of {x}"],
    questions: ["Who is the governor of {x}?", "Who is governor in {x}?"],
  },
  {
    name: "region-formed",
    subject: "region",
    object: "year",
    label: "formation year",
    statements: ["{ref} was formed in {o}.", "{ref} dates from {o}."],
    phrases: [],
    questions: ["When was {x} formed?", "In which year was {x} formed?"],
    comparison: "Which region was formed first, {x} or {y}?",
  },
  {
    name: "firm-seat",
    subject: "firm",
    object: "town",
    label: "seat",
    statements: ["{s} is a firm based in {o}.", "{s} is a firm with its seat in {o}."],
    phrases: ["the seat of {x}", "the town where {x} is based"],
    questions: ["Where is {x} based?", "In which town is {x} based?"],
  },
  {
    name: "firm-founder",
    subject: "firm",
    object: "person",
    label: "founder",
    statements: ["{ref} was founded by {o}.", "Its founder was {o}."],
    phrases: ["the founder of {x}", "the person who founded {x}"],
    questions: ["Who founded {x}?", "Who was the founder of {x}?"],
  },
  {
    name: "firm-founded",
    subject: "firm",
    object: "year",
    label: "opening year",
    statements: ["{ref} opened in {o}.", "{ref} dates from {o}."],
    phrases: [],
    questions: ["When did {x} open?", "In which year did {x} open?"],
    comparison: "Which firm opened first, {x} or {y}?",
  },
  {
    name: "work-author",
    subject: "work",
    object: "person",
    label: "author",
    statements: ["{s} is a {noun} by {o}.", "{s} is a {noun} written by {o}."],
    phrases: ["the author of {x}", "the person who wrote {x}"],
    questions: ["Who wrote {x}?", "Who is the author of {x}?"],
  },
  {
    name: "work-setting",
    subject: "work",
    object: "town",
    label: "setting",
    statements: ["{ref} is set in {o}.", "{ref} takes place in {o}."],
    phrases: ["the setting of {x}", "the town where {x} is set"],
    questions: ["Where is {x} set?", "In which town is {x} set?"],
  },
  {
    name: "work-published",
    subject: "work",
    object: "year",
    label: "publication year",
    statements: ["{ref} was published in {o}.", "{ref} appeared in {o}."],
    phrases: [],
    questions: ["When was {x} published?", "In which year was {x} published?"],
    comparison: "Which was published first, {x} or {y}?",
  },
  {
    name: "event-host",
    subject: "event",
    object: "town",
    label: "host",
    statements: ["{s} is a {noun} held in {o}.", "{s} is a {noun} hosted by {o}."],
    phrases: ["the host of {x}", "the town that hosts {x}"],
    questions: ["Where is {x} held?", "Which town hosts {x}?"],
  },
  {
    name: "event-organiser",
    subject: "event",
    object: "person",
    label: "organiser",
    statements: ["{ref} is run by {o}.", "Its organiser is {o}."],
    phrases: ["the organiser of {x}", "the person who runs {x}"],
    questions: ["Who runs {x}?", "Who is the organiser of {x}?"],
  },
  {
    name: "event-began",
    subject: "event",
    object: "year",
    label: "first year",
    statements: ["{ref} was first held in {o}.", "{ref} began in {o}."],
    phrases: [],
    questions: ["When was {x} first held?", "In which year did {x} begin?"],
    comparison: "Which was held first, {x} or {y}?",
  },
];
