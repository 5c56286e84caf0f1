import { type Part, requireDescribed } from "../base/registry.ts";
import { z } from "../base/schema.ts";
import { SPLITS, type Split } from "../base/split.ts";
import { type DatasetPart, type MadeTask, defineDataset } from "../data/dataset.ts";
import type { TaskLayout } from "../data/layouts/layout.ts";
import type { Passage, Task } from "../trajectory/task.ts";
import type { EnvironmentPart } from "./environments/environment.ts";
import type { Teacher } from "./teacher.ts";
import { type WorldCheck, type WorldFolder, worldFolder } from "./world-folder.ts";

/** A world: what an experiment needs beside a method. One with questions can be generated to a folder and checked (`agentrl data`). */
export interface World extends Part {
  readonly datasets: readonly DatasetPart[];
  readonly environments: readonly EnvironmentPart[];
  readonly teachers: readonly Teacher[];
  readonly bases: readonly string[];
  /** Files of its questions and passages; absent where it has none, such as a game. */
  readonly folder?: WorldFolder;
  /** Texts that the tokenizer of every fresh policy has as one token each, with the space before them. */
  readonly vocabulary?: () => readonly string[];
  /** Queries for a step of a question (`annotations.decomposition`) in other words than the step's; none for another world's step. */
  readonly stepQueries?: (step: string) => readonly string[];
  /** A stream of such worlds, for pre-training. */
  readonly lessons?: Lessons;
  parts(): (Part & { part: "dataset" | "environment" | "teacher" })[];
}

/** Worlds one after another with different facts, so that a policy cannot learn the facts. */
export interface Lessons {
  /** Settings of the stream, the number `questionsPerWorld` among them. */
  readonly options: z.ZodObject;
  /** World number `index` of the stream of `seed`. */
  open(
    options: unknown,
    seed: number,
    index: number,
  ): { passages: Passage[]; questions: LessonQuestion[] };
}

/** A question, with the answers of its steps as the teacher remembers them; null where it must search. */
export type LessonQuestion = { task: Task; remembered: string[] | null };

const drawSchema = z.strictObject({
  seed: z.int().min(0).default(7),
  split: z.enum(SPLITS).default("train"),
  questions: z.int().min(1).default(500),
});

/** The settings of a world's dataset: its own, and the three that every world has. */
type Settings<S extends z.ZodObject> = z.output<S> &
  Omit<{ seed: number; split: Split; questions: number }, keyof S["shape"]>;

/** How a world is described. */
export interface Described<S extends z.ZodObject> extends Pick<Part, "name" | "summary"> {
  /** Increases with every change that changes a question or passage; part of a result's fingerprint. Default 1. */
  version?: number;
  /** Options of its dataset. `seed`, `split` and `questions` are added where they are missing. */
  options?: S;
  tasks?: (settings: Settings<S>) => Iterable<MadeTask>;
  /** The passages of a split; absent: the questions need none. */
  passages?: (settings: Settings<S>) => Iterable<Passage>;
  /** Its dataset, in place of `options`, `tasks` and `passages`: one that loads without the rest of the world. */
  dataset?: DatasetPart;
  check?: WorldCheck;
  /** How it is written: settings (default: the dataset's with `splits`), layout of questions (agentrl), whether with passages. */
  written?: { options?: z.ZodObject; layout?: TaskLayout; hasPassages?: boolean };
  datasets?: readonly DatasetPart[];
  environments?: readonly EnvironmentPart[];
  teachers?: readonly Teacher[];
  bases?: readonly string[];
  vocabulary?: World["vocabulary"];
  stepQueries?: World["stepQueries"];
  lessons?: Lessons;
}

/** Makes a world. `tasks` and `passages` make its dataset and folder. @throws {ConfigError} PLUGIN_BAD_PART for a wrong member. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- no options of its own
export function defineWorld<S extends z.ZodObject = z.ZodObject<{}>>(
  described: Described<S>,
): World {
  const { name, summary, datasets = [], environments = [], teachers = [] } = described;
  const { bases = [], vocabulary, stepQueries, lessons } = described;
  const checked = { ...described, datasets, environments, teachers, bases };
  const isEmpty = [datasets, environments, teachers].every(({ length }) => length === 0);
  const functions = (["tasks", "passages", "check", "vocabulary", "stepQueries"] as const).filter(
    (each) =>
      described[each] !== undefined || (each === "tasks" && isEmpty && !("dataset" in described)),
  );
  requireDescribed("world", checked, functions, {
    datasets: "list",
    environments: "list",
    teachers: "list",
    bases: "list",
  });
  const own = ownQuestions(described);
  const all = own === null ? datasets : [own.dataset, ...datasets];
  return {
    part: "world",
    name,
    summary,
    datasets: all,
    environments,
    teachers,
    bases,
    folder: own?.folder,
    vocabulary,
    stepQueries,
    lessons,
    parts: () => [
      ...all.map((part) => Object.assign(part, { part: "dataset" as const })),
      ...environments.map((part) => Object.assign(part, { part: "environment" as const })),
      ...teachers.map((part) => Object.assign(part, { part: "teacher" as const })),
    ],
  };
}

/** The dataset and the folder of a world; null where it has no questions. */
function ownQuestions<S extends z.ZodObject>(
  described: Described<S>,
): { dataset: DatasetPart; folder: WorldFolder } | null {
  const { version = 1, passages, check, written = {} } = described;
  const dataset = described.dataset ?? datasetOf(described);
  if (dataset === null) return null;
  const hasPassages = passages !== undefined;
  return { dataset, folder: worldFolder({ dataset, version, hasPassages, check, ...written }) };
}

function datasetOf<S extends z.ZodObject>(described: Described<S>): DatasetPart | null {
  const { name, summary, version = 1, tasks, passages } = described;
  if (tasks === undefined) return null;
  const given = described.options?.shape ?? {};
  // An option's place decides its place in the settings, and so the fingerprint: a schema that has all three stays as it is.
  const isWhole = Object.keys(drawSchema.shape).every((key) => key in given);
  const options = (isWhole ? described.options : drawSchema.extend(given)) as z.ZodObject;
  return defineDataset({
    name,
    summary,
    version,
    options,
    open: (given) => {
      const settings = given as Settings<S>;
      return { stream: () => tasks(settings), passages: () => passages?.(settings) ?? [] };
    },
  });
}
