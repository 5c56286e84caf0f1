import { describe, expect, it } from "vitest";
import {
  type NeededPassage,
  neededPassages,
  readingOf,
} from "../../../src/synth/teachers/sought-steps.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Turn } from "../../../src/trajectory/trajectory.ts";

const text = "Mercury is the smallest planet and the closest one to the Sun.";
const planet: NeededPassage = { id: "planet", title: "Mercury", text, parts: [text] };
const returning = (...passageIds: string[]): Turn[] => [
  {
    call: 0,
    text: "",
    actions: [],
    problems: [],
    observations: [{ tool: "search", text: "", passageIds }],
  },
];

describe("whether a needed passage was read", () => {
  it("is not told by another passage of the same title", () => {
    const element = "Doc 1(Title: Mercury) Mercury is a chemical element, a liquid metal.\n";
    expect(readingOf(returning("element"), element)(planet)).toBe(false);
  });

  it("is told by its text where the corpus has other ids, cut or titled in quotes", () => {
    for (const line of ["Doc 1(Title: Mercury) ", 'Doc 1(Title: "Mercury") ']) {
      expect(readingOf(returning("c-7"), `${line}${text.slice(0, 50)}\n`)(planet)).toBe(true);
    }
  });

  it("is told by its title alone only where no text is known", () => {
    const titleOnly = { id: null, title: "Mercury", text: "", parts: [] };
    const shown = "Doc 1(Title: Mercury) Anything.\n";
    expect(readingOf(returning("c-7"), shown)(titleOnly)).toBe(true);
  });

  it("needs the whole text of a passage that was returned by its id", () => {
    const whole = `Doc 1(Title: Mercury) ${text}\n`;
    expect(readingOf(returning("planet"), whole)(planet)).toBe(true);
    expect(readingOf(returning("planet"), whole.slice(0, 60))(planet)).toBe(false);
  });
});

describe("what must be shown of a needed passage whose supporting sentences are unknown", () => {
  const jan =
    "Jan Kowal is a director. He works in Lublin. His mother is Ewa Nowak. He likes rain.";
  const context = [
    { id: "kowal", title: "Jan Kowal", text: jan },
    { id: "war", title: "Northern War", text: "Northern War is a film. Jan Kowal directed it." },
  ];
  const partsOf = (annotations: Task["annotations"]) => {
    const given = { supportingPassages: ["kowal"], context, ...annotations };
    const task = { id: "q", question: "Whose son?", references: [], source: "test" };
    return neededPassages({ ...task, annotations: given })[0]?.parts;
  };
  const mother = { subject: "Jan Kowal", relation: "mother", object: "Ewa Nowak" };

  it("is the first sentence with each fact of its triples or steps", () => {
    expect(partsOf({ evidences: [mother] })).toEqual(["His mother is Ewa Nowak."]);
    const decomposition = [
      { question: "Where does he work?", answer: "Lublin", passage: "kowal" },
      { question: "Who directed it?", answer: "Jan Kowal", passage: "war" },
    ];
    expect(partsOf({ decomposition })).toEqual(["He works in Lublin."]);
  });

  it("is all of it if a fact is not written there, or none is known", () => {
    const born = { subject: "Jan Kowal", relation: "date of birth", object: "1950" };
    expect(partsOf({ evidences: [mother, born] })).toEqual([jan]);
    expect(partsOf({ evidences: [] })).toEqual([jan]);
  });

  it("is not its end: a reply cut after the fact is enough, one cut before it is not", () => {
    const annotations = { supportingPassages: ["kowal"], context, evidences: [mother] };
    const task = { id: "q", question: "Whose son?", references: [], source: "test", annotations };
    const [passage] = neededPassages(task);
    const isRead = (shown: string) => passage && readingOf(returning("kowal"), shown)(passage);
    expect(isRead(jan.slice(0, jan.indexOf(" He likes")))).toBe(true);
    expect(isRead(jan.slice(0, jan.indexOf(" Ewa")))).toBe(false);
  });
});
