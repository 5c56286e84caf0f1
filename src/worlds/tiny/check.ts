import type { Passage, Task } from "../../trajectory/task.ts";
import { checkQuestion, problem, type Seen, type TinyWorldProblem } from "./check-question.ts";
import { namesIn, readPassage, readQuestion, type QuestionReading } from "./reading.ts";
import { RELATIONS } from "./relations.ts";

/** Counts and problems. */
export type TinyWorldReport = { passages: number; questions: number; problems: TinyWorldProblem[] };

/**
 * Verifies a written tiny world from its text only: parses passages and questions by the language's templates, without the facts.
 * Each question's words lead, fact by fact, through passages that state each fact, to the reference; gold annotations agree; one passage
 * states each fact, of its title; the question contains neither the answer nor a name on the way; beyond one hop, no passage about the
 * question's entity states the answer (for pairs: none is about both). Filler states nothing; a rumour about a needed fact is wrong.
 * "unknown" is right if no passage states a fact of the chain. An intersection has one answer, its conditions several.
 * Memory grows with the questions, and by one title and id per passage; with intersections, by every fact.
 */
export async function checkTinyWorld(
  passages: Iterable<Passage> | AsyncIterable<Passage>,
  tasks: Iterable<Task>,
): Promise<TinyWorldReport> {
  const questions = [...tasks].map((task) => ({ task, readings: readQuestion(task.question) }));
  const wanted = new Set(questions.flatMap(({ task, readings }) => namesNeeded(task, readings)));
  const report: TinyWorldReport = { passages: 0, questions: questions.length, problems: [] };
  const all = questions.flatMap(({ readings }) => readings);
  const seen: Seen = {
    passages: new Map(),
    aliases: new Map(),
    naming: new Map(),
    subjects: all.some(({ type }) => type === "intersect") ? new Map() : null,
  };
  const stated: Stated = { ids: new Set(), facts: new Map() };
  for await (const passage of passages) {
    report.passages += 1;
    report.problems.push(...takePassage(passage, wanted, seen, stated));
  }
  const taskIds = new Set<string>();
  for (const { task, readings } of questions) {
    if (taskIds.has(task.id))
      report.problems.push(problem(task.id, "id-twice", "another question has this id"));
    taskIds.add(task.id);
    report.problems.push(...checkQuestion(task, readings, seen));
  }
  return report;
}

interface Stated {
  ids: Set<string>;
  /** By name: one bit for each relation. */
  facts: Map<string, number>;
}

function namesNeeded(task: Task, readings: readonly QuestionReading[]): string[] {
  const asked = readings.flatMap((reading) => {
    if (reading.type === "bridge") return [reading.anchor];
    return reading.type === "compare-chains"
      ? [reading.x.anchor, reading.y.anchor]
      : [reading.x, reading.y];
  });
  return [...asked, ...(task.annotations.decomposition ?? []).map(({ answer }) => answer)];
}

function takePassage(
  passage: Passage,
  wanted: ReadonlySet<string>,
  seen: Seen,
  stated: Stated,
): TinyWorldProblem[] {
  const problems: TinyWorldProblem[] = [];
  const { id } = passage;
  if (stated.ids.has(id)) problems.push(problem(id, "id-twice", "another passage has this id"));
  stated.ids.add(id);
  const reading = readPassage(passage);
  problems.push(...reading.problems.map((text) => problem(id, "passage-unreadable", text)));
  const { name } = reading;
  const before = stated.facts.get(name) ?? 0;
  let bits = before;
  for (const [i, relation] of RELATIONS.entries()) {
    const fact = reading.facts.get(relation.name);
    if (fact === undefined) continue;
    if ((before & (1 << i)) !== 0) {
      const message = `another passage states the ${relation.label} of "${name}"`;
      problems.push(problem(id, "fact-twice", message));
    }
    bits |= 1 << i;
    if (seen.subjects !== null) listed(seen.subjects, `${relation.name} ${fact.value}`).push(name);
  }
  stated.facts.set(name, bits);
  if (wanted.has(name)) listed(seen.passages, name).push({ passage, reading });
  const alias = reading.alias?.value;
  if (alias !== undefined && wanted.has(alias)) seen.aliases.set(alias, { passage, reading });
  const names = namesIn(`${passage.title}. ${reading.statements}`).add(name);
  const words = new Set([...names, ...(reading.statements.match(/\d+/g) ?? [])]);
  for (const each of names) if (wanted.has(each)) listed(seen.naming, each).push({ id, words });
  return problems;
}

function listed<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
