import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJson, sha256File } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { readPassages } from "../passages.ts";
import { loadTasks } from "../tasks.ts";
import { TINY_WORLD_FORMAT } from "./generate.ts";
import {
  namesIn,
  readPassage,
  readQuestion,
  type PassageReading,
  type QuestionReading,
} from "./reading.ts";
import type { Relation } from "./relations.ts";

/** A defect of a tiny world. */
interface TinyWorldProblem {
  /** Id of the passage or task. */
  where: string;
  code:
    | "passage-unreadable"
    | "id-twice"
    | "title-twice"
    | "question-unreadable"
    | "chain-broken"
    | "gold-differs"
    | "answer-differs"
    | "name-given-away"
    | "single-passage-answer";
  message: string;
}

/** Counts and problems. */
export interface TinyWorldReport {
  passages: number;
  questions: number;
  problems: TinyWorldProblem[];
}

interface Seen {
  titles: Set<string>;
  ids: Set<string>;
  /** The passages whose titles questions need. */
  byTitle: Map<string, { passage: Passage; reading: PassageReading }>;
  /** Ids, names and years of the passages that name a question's entity. */
  naming: Map<string, { id: string; words: Set<string> }[]>;
}

/**
 * Verifies a written tiny world from its text only: it parses passages and questions by the language's templates, without
 * the generator's facts.
 *
 * For each question: its words lead, fact by fact, through passages that state each fact, to the reference; all
 * gold annotations agree; only one passage states each fact (titles are unique, and passages state
 * only facts of their title); the question contains neither the answer nor a name on the way; and beyond one hop, no
 * passage with the question's entity contains the answer (for pairs: no passage names both).
 *
 * Memory grows with the questions, and by one title and id per passage.
 */
export async function checkTinyWorld(
  passages: Iterable<Passage> | AsyncIterable<Passage>,
  tasks: Iterable<Task>,
): Promise<TinyWorldReport> {
  const questions = [...tasks].map((task) => ({ task, readings: readQuestion(task.question) }));
  const wanted = new Set(questions.flatMap(({ task, readings }) => namesNeeded(task, readings)));
  const report: TinyWorldReport = { passages: 0, questions: questions.length, problems: [] };
  const seen: Seen = { titles: new Set(), ids: new Set(), byTitle: new Map(), naming: new Map() };
  for await (const passage of passages) {
    report.passages += 1;
    report.problems.push(...takePassage(passage, wanted, seen));
  }
  const taskIds = new Set<string>();
  for (const { task, readings } of questions) {
    if (taskIds.has(task.id)) {
      report.problems.push(problem(task.id, "id-twice", "another question has this id"));
    }
    taskIds.add(task.id);
    report.problems.push(...checkTask(task, readings, seen));
  }
  return report;
}

function problem(where: string, code: TinyWorldProblem["code"], message: string): TinyWorldProblem {
  return { where, code, message };
}

function namesNeeded(task: Task, readings: readonly QuestionReading[]): string[] {
  const asked = readings.flatMap((r) => (r.type === "bridge" ? [r.anchor] : [r.x, r.y]));
  return [...asked, ...(task.annotations.decomposition ?? []).map(({ answer }) => answer)];
}

function takePassage(
  passage: Passage,
  wanted: ReadonlySet<string>,
  seen: Seen,
): TinyWorldProblem[] {
  const problems: TinyWorldProblem[] = [];
  const { id, title } = passage;
  if (seen.ids.has(id)) problems.push(problem(id, "id-twice", "another passage has this id"));
  if (seen.titles.has(title)) {
    problems.push(problem(id, "title-twice", `another passage has the title "${title}"`));
  }
  seen.ids.add(id);
  seen.titles.add(title);
  const reading = readPassage(passage);
  problems.push(...reading.problems.map((text) => problem(id, "passage-unreadable", text)));
  if (wanted.has(title)) seen.byTitle.set(title, { passage, reading });
  const names = namesIn(`${title}. ${passage.text}`);
  const words = new Set([...names, ...(passage.text.match(/\d+/g) ?? [])]);
  for (const name of names) {
    if (!wanted.has(name)) continue;
    const list = seen.naming.get(name) ?? [];
    list.push({ id, words });
    seen.naming.set(name, list);
  }
  return problems;
}

function checkTask(
  task: Task,
  readings: readonly QuestionReading[],
  seen: Seen,
): TinyWorldProblem[] {
  const [reading] = readings;
  if (reading === undefined || readings.length > 1) {
    const found = readings.length === 0 ? "cannot be read" : "can be read in several ways";
    return [problem(task.id, "question-unreadable", `"${task.question}" ${found}`)];
  }
  const steps = stepsOf(reading, seen);
  if (typeof steps === "string") return [problem(task.id, "chain-broken", steps)];
  return [
    ...checkGold(task, reading, steps),
    ...checkAnswer(task, reading, steps),
    ...checkSecrets(task, reading, steps),
    ...checkShortcuts(task, reading, steps, seen),
  ];
}

interface Step {
  subject: string;
  label: string;
  value: string;
  sentence: number;
  passage: string;
}

/** The facts that answer the question, in order; a message when one is missing. */
function stepsOf(reading: QuestionReading, seen: Seen): Step[] | string {
  const chain = reading.type === "bridge" ? reading.chain : [reading.relation, reading.relation];
  const steps: Step[] = [];
  for (const [i, relation] of chain.entries()) {
    const subject =
      reading.type !== "bridge"
        ? [reading.x, reading.y][i]
        : (steps.at(-1)?.value ?? reading.anchor);
    const step = lookUp(subject ?? "", relation, seen);
    if (typeof step === "string") return step;
    steps.push(step);
  }
  return steps;
}

function lookUp(subject: string, relation: Relation, seen: Seen): Step | string {
  const about = seen.byTitle.get(subject);
  if (about === undefined) return `no passage (of the gold chain) has the title "${subject}"`;
  const fact = about.reading.facts.get(relation.name);
  if (fact === undefined) {
    return `passage ${about.passage.id} does not state the ${relation.label} of "${subject}"`;
  }
  return { subject, label: relation.label, ...fact, passage: about.passage.id };
}

function checkGold(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
): TinyWorldProblem[] {
  const { annotations } = task;
  const expected: [string, unknown, unknown][] = [
    ["type", annotations.type, reading.type],
    ["hops", annotations.hops, steps.length],
    ["supportingPassages", annotations.supportingPassages, steps.map(({ passage }) => passage)],
    [
      "supportingFacts",
      annotations.supportingFacts,
      steps.map(({ subject, sentence }) => ({ title: subject, sentence })),
    ],
    [
      "decomposition",
      annotations.decomposition,
      steps.map(({ subject, label, value, passage }) => ({
        question: `${label} of ${subject}`,
        answer: value,
        passage,
      })),
    ],
  ];
  return expected
    .filter(([, gold, read]) => JSON.stringify(gold) !== JSON.stringify(read))
    .map(([field, gold, read]) =>
      problem(
        task.id,
        "gold-differs",
        `${field} is ${JSON.stringify(gold)}; the text says ${JSON.stringify(read)}`,
      ),
    );
}

function checkAnswer(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
): TinyWorldProblem[] {
  const answer = answerOf(reading, steps);
  if (task.references.length === 1 && task.references[0] === answer) return [];
  const found = JSON.stringify(task.references);
  const message =
    answer === null
      ? `both subjects have the year ${steps[0]?.value ?? ""}: the question has no answer`
      : `references are ${found}; the text says "${answer}"`;
  return [problem(task.id, "answer-differs", message)];
}

function answerOf(reading: QuestionReading, steps: readonly Step[]): string | null {
  const [a, b] = steps;
  if (reading.type === "bridge") return steps.at(-1)?.value ?? null;
  if (a === undefined || b === undefined) return null;
  if (reading.type === "yes-no") return a.value === b.value ? "yes" : "no";
  if (a.value === b.value) return null;
  return Number(a.value) < Number(b.value) ? a.subject : b.subject;
}

/** The question must not contain the chain's later names or its answer, and a chain must not visit an entity twice. */
function checkSecrets(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
): TinyWorldProblem[] {
  if (reading.type !== "bridge") return [];
  const values = steps.map(({ value }) => value);
  const given = values.find((value) => task.question.includes(value));
  if (given !== undefined) {
    return [problem(task.id, "name-given-away", `the question contains "${given}"`)];
  }
  if (new Set(values).size < values.length) {
    return [problem(task.id, "name-given-away", "the chain visits one entity twice")];
  }
  return [];
}

function checkShortcuts(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
  seen: Seen,
): TinyWorldProblem[] {
  if (steps.length < 2) return [];
  const [name, answer] =
    reading.type === "bridge"
      ? [reading.anchor, steps.at(-1)?.value ?? ""]
      : [reading.x, reading.y];
  return (seen.naming.get(name) ?? [])
    .filter(({ words }) => words.has(answer))
    .map(({ id }) =>
      problem(
        task.id,
        "single-passage-answer",
        `passage ${id} contains both "${name}" and "${answer}"`,
      ),
    );
}

const manifestSchema = z.object({
  format: z.literal(TINY_WORLD_FORMAT),
  files: z.record(z.string(), z.object({ records: z.int(), sha256: z.string() })),
});

/** Result of checking a tiny-world folder. */
interface TinyWorldFolderReport extends TinyWorldReport {
  /** Files that differ from the manifest. */
  changedFiles: string[];
}

/**
 * Checks a folder from `generateTinyWorld`: compares its files with the manifest, and runs `checkTinyWorld`.
 * A changed file is reported and still checked.
 *
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when the manifest is missing or invalid; as
 *   `loadTasks` and `readPassages`.
 */
export async function checkTinyWorldFolder(folder: string): Promise<TinyWorldFolderReport> {
  const path = join(folder, "manifest.json");
  const manifest = checkOptions(manifestSchema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${path}: "${keys.join(".")}" ${message} A folder from \`agentrl data generate tinyworld\` is required.`,
    );
  }
  const names = Object.keys(manifest.value.files);
  const changedFiles: string[] = [];
  for (const name of names) {
    const hash = await hashOf(join(folder, name));
    if (hash !== manifest.value.files[name]?.sha256) changedFiles.push(name);
  }
  const questions = names.filter((name) => name !== "corpus.jsonl");
  const tasks = [];
  for (const name of questions) tasks.push(...(await loadTasks(join(folder, name))));
  const report = await checkTinyWorld(readPassages(join(folder, "corpus.jsonl")), tasks);
  return { ...report, changedFiles };
}

/** Null for a missing file, which its reader reports. */
async function hashOf(path: string): Promise<string | null> {
  try {
    return await sha256File(path);
  } catch {
    return null;
  }
}
