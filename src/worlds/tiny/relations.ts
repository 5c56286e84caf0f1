import type { Kind } from "./names.ts";

/** One way to state a fact. No other statement of the kind, and no label, has the word `query`: a search with it finds this wording alone. */
export type Wording = { readonly statement: string; readonly query: string };

/** Frequencies of a relation's first, second and third wording. */
export const WORDING_SHARES = [0.5, 0.3, 0.2] as const;

/**
 * One kind of fact, with its sentences. Slots: `{s}` the subject's name, `{ref}` again ("He", "It", "The firm"), `{noun}` its noun, `{o}`
 * the value, and in questions `{x}` (and `{y}`) the subject: a name, or a phrase that leads to it.
 */
export interface Relation {
  readonly name: string;
  readonly subject: Kind;
  /** Type of the value. There are many values, so that a guess rarely scores; each subject has exactly one. */
  readonly object: Kind | "year";
  /** Short name of the value: "birthplace" in the step "birthplace of Aldo Brenn". Unique within the kind. */
  readonly label: string;
  /** Ways to state the fact, the most frequent first. */
  readonly wordings: readonly [Wording, Wording, Wording];
  /** Noun phrases for the value; none for years, which cannot be a subject. */
  readonly phrases: readonly string[];
  readonly questions: readonly string[];
  /** Asks which of two subjects has the smaller year. */
  readonly comparison?: string;
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

/** All relations; the order within a kind is the order of its sentences. Every inverse must be computable: see `facts.ts`. */
export const RELATIONS: readonly Relation[] = [
  {
    name: "person-birth-year",
    subject: "person",
    object: "year",
    label: "birth year",
    wordings: [
      { statement: "{s} is a {noun} born in {o}.", query: "born" },
      { statement: "{s} is a {noun} whose life began in {o}.", query: "life" },
      { statement: "{s} is a {noun} of the generation of {o}.", query: "generation" },
    ],
    phrases: [],
    questions: ["When was {x} born?", "In which year was {x} born?"],
    comparison: "Who was born first, {x} or {y}?",
  },
  {
    name: "person-birthplace",
    subject: "person",
    object: "town",
    label: "birthplace",
    wordings: [
      { statement: "{ref} comes from {o}.", query: "comes" },
      { statement: "{ref} grew up in {o}.", query: "grew" },
      { statement: "{ref} is a native of {o}.", query: "native" },
    ],
    phrases: ["the birthplace of {x}", "the town where {x} was born"],
    questions: ["Where was {x} born?", "In which town was {x} born?"],
    same: "Were {x} and {y} born in the same town?",
  },
  {
    name: "person-employer",
    subject: "person",
    object: "firm",
    label: "employer",
    wordings: [
      { statement: "{ref} works for {o}.", query: "works" },
      { statement: "{ref} has a job at {o}.", query: "job" },
      { statement: "{ref} is on the staff of {o}.", query: "staff" },
    ],
    phrases: ["the employer of {x}", "the firm that employs {x}"],
    questions: ["Which firm employs {x}?", "For which firm does {x} work?"],
    same: "Do {x} and {y} work for the same firm?",
  },
  {
    name: "person-teacher",
    subject: "person",
    object: "person",
    label: "teacher",
    wordings: [
      { statement: "{ref} was taught by {o}.", query: "taught" },
      { statement: "{ref} studied under {o}.", query: "studied" },
      { statement: "{ref} was a pupil of {o}.", query: "pupil" },
    ],
    phrases: ["the teacher of {x}", "the person who taught {x}"],
    questions: ["Who taught {x}?", "Who was the teacher of {x}?"],
  },
  {
    name: "town-region",
    subject: "town",
    object: "region",
    label: "region",
    wordings: [
      { statement: "{s} is a town that lies in {o}.", query: "lies" },
      { statement: "{s} is a town that belongs to {o}.", query: "belongs" },
      { statement: "{s} is a town within the borders of {o}.", query: "borders" },
    ],
    phrases: ["the region of {x}", "the region around {x}"],
    questions: ["In which region is {x}?", "Which region includes {x}?"],
    same: "Are {x} and {y} in the same region?",
  },
  {
    name: "town-mayor",
    subject: "town",
    object: "person",
    label: "mayor",
    wordings: [
      { statement: "{ref} is led by {o}.", query: "led" },
      { statement: "{ref} is headed by {o}.", query: "headed" },
      { statement: "The town hall is run by {o}.", query: "hall" },
    ],
    phrases: ["the mayor of {x}"],
    questions: ["Who is the mayor of {x}?", "Who is mayor in {x}?"],
  },
  {
    name: "town-founded",
    subject: "town",
    object: "year",
    label: "founding year",
    wordings: [
      { statement: "{ref} dates from {o}.", query: "dates" },
      { statement: "{ref} was settled in {o}.", query: "settled" },
      { statement: "{ref} got its charter in {o}.", query: "charter" },
    ],
    phrases: [],
    questions: ["When was {x} founded?", "In which year was {x} founded?"],
    comparison: "Which town was founded first, {x} or {y}?",
  },
  {
    name: "region-capital",
    subject: "region",
    object: "town",
    label: "capital",
    wordings: [
      { statement: "{s} is a region ruled from {o}.", query: "ruled" },
      { statement: "{s} is a region with a parliament in {o}.", query: "parliament" },
      { statement: "{s} is a region with a court in {o}.", query: "court" },
    ],
    phrases: ["the capital of {x}"],
    questions: ["What is the capital of {x}?", "Which town is the capital of {x}?"],
  },
  {
    name: "region-governor",
    subject: "region",
    object: "person",
    label: "governor",
    wordings: [
      { statement: "Its leader is {o}.", query: "leader" },
      { statement: "{ref} is under the care of {o}.", query: "care" },
      { statement: "Its affairs are run by {o}.", query: "affairs" },
    ],
    phrases: ["the governor of {x}"],
    questions: ["Who is the governor of {x}?", "Who is governor in {x}?"],
  },
  {
    name: "region-formed",
    subject: "region",
    object: "year",
    label: "formation year",
    wordings: [
      { statement: "{ref} was united in {o}.", query: "united" },
      { statement: "{ref} became one in {o}.", query: "became" },
      { statement: "{ref} entered the maps in {o}.", query: "maps" },
    ],
    phrases: [],
    questions: ["When was {x} formed?", "In which year was {x} formed?"],
    comparison: "Which region was formed first, {x} or {y}?",
  },
  {
    name: "firm-seat",
    subject: "firm",
    object: "town",
    label: "seat",
    wordings: [
      { statement: "{s} is a firm based in {o}.", query: "based" },
      { statement: "{s} is a firm with a tower in {o}.", query: "tower" },
      { statement: "{s} is a firm at home in {o}.", query: "home" },
    ],
    phrases: ["the seat of {x}", "the town where {x} is based"],
    questions: ["Where is {x} based?", "In which town is {x} based?"],
  },
  {
    name: "firm-founder",
    subject: "firm",
    object: "person",
    label: "founder",
    wordings: [
      { statement: "{ref} was started by {o}.", query: "started" },
      { statement: "{ref} was the idea of {o}.", query: "idea" },
      { statement: "{ref} grew from the workshop of {o}.", query: "workshop" },
    ],
    phrases: ["the founder of {x}", "the person who founded {x}"],
    questions: ["Who founded {x}?", "Who was the founder of {x}?"],
  },
  {
    name: "firm-founded",
    subject: "firm",
    object: "year",
    label: "opening year",
    wordings: [
      { statement: "{ref} began trading in {o}.", query: "trading" },
      { statement: "{ref} took its first order in {o}.", query: "order" },
      { statement: "{ref} was registered in {o}.", query: "registered" },
    ],
    phrases: [],
    questions: ["When did {x} open?", "In which year did {x} open?"],
    comparison: "Which firm opened first, {x} or {y}?",
  },
  {
    name: "work-author",
    subject: "work",
    object: "person",
    label: "author",
    wordings: [
      { statement: "{s} is a {noun} written by {o}.", query: "written" },
      { statement: "{s} is a {noun} from the pen of {o}.", query: "pen" },
      { statement: "{s} is a {noun} composed by {o}.", query: "composed" },
    ],
    phrases: ["the author of {x}", "the person who wrote {x}"],
    questions: ["Who wrote {x}?", "Who is the author of {x}?"],
  },
  {
    name: "work-setting",
    subject: "work",
    object: "town",
    label: "setting",
    wordings: [
      { statement: "{ref} takes place in {o}.", query: "place" },
      { statement: "Its story happens in {o}.", query: "story" },
      { statement: "Its scenes show {o}.", query: "scenes" },
    ],
    phrases: ["the setting of {x}", "the town where {x} is set"],
    questions: ["Where is {x} set?", "In which town is {x} set?"],
  },
  {
    name: "work-published",
    subject: "work",
    object: "year",
    label: "publication year",
    wordings: [
      { statement: "{ref} appeared in {o}.", query: "appeared" },
      { statement: "{ref} was printed in {o}.", query: "printed" },
      { statement: "{ref} reached the shops in {o}.", query: "shops" },
    ],
    phrases: [],
    questions: ["When was {x} published?", "In which year was {x} published?"],
    comparison: "Which was published first, {x} or {y}?",
  },
  {
    name: "event-host",
    subject: "event",
    object: "town",
    label: "host",
    wordings: [
      { statement: "{s} is a {noun} held in {o}.", query: "held" },
      { statement: "{s} is a {noun} in the streets of {o}.", query: "streets" },
      { statement: "{s} is a {noun} on the square of {o}.", query: "square" },
    ],
    phrases: ["the host of {x}", "the town that hosts {x}"],
    questions: ["Where is {x} held?", "Which town hosts {x}?"],
  },
  {
    name: "event-organiser",
    subject: "event",
    object: "person",
    label: "organiser",
    wordings: [
      { statement: "{ref} is run by {o}.", query: "run" },
      { statement: "{ref} is planned by {o}.", query: "planned" },
      { statement: "{ref} is in the hands of {o}.", query: "hands" },
    ],
    phrases: ["the organiser of {x}", "the person who runs {x}"],
    questions: ["Who runs {x}?", "Who is the organiser of {x}?"],
  },
  {
    name: "event-began",
    subject: "event",
    object: "year",
    label: "first year",
    wordings: [
      { statement: "{ref} began in {o}.", query: "began" },
      { statement: "{ref} goes back to {o}.", query: "back" },
      { statement: "{ref} has a history since {o}.", query: "history" },
    ],
    phrases: [],
    questions: ["When was {x} first held?", "In which year did {x} begin?"],
    comparison: "Which was held first, {x} or {y}?",
  },
];
