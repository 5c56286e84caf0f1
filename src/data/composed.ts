import { definedValues } from "../base/defined-values.ts";
import { z } from "../base/schema.ts";
import { stepQuestions, type Task } from "../trajectory/task.ts";
import { type Dataset, datasetSchema, defineDataset, type MadeTask } from "./dataset.ts";

/**
 * Questions that need several answers, in order: several questions in a row as one, or all steps of one. Every choice of accepted answers is a reference,
 * and `annotations.parts` has those of each part. Source: MEM1, arXiv 2506.15841, tasks of several objectives.
 */
export const composed = defineDataset({
  name: "composed",
  summary: "Several questions as one, or all steps of one.",
  options: z.strictObject({
    of: datasetSchema,
    /** Questions in each; what is left at the end is dropped. */
    count: z.int().min(1).default(2),
    /** The parts are the steps of the questions in place of the questions; those without steps are left out. */
    steps: z.boolean().default(false),
    /** Text between two questions, and between two answers. */
    between: z.string().min(1).default("; "),
  }),
  async open({ of, ...form }, { open }) {
    const inner = await open(of);
    return {
      facts: [inner.fingerprint, form],
      trainable: inner.trainable,
      stream: (limit) => inRows(inner, form, limit),
      passages: () => inner.passages(),
    };
  },
});

type Form = { count: number; between: string; steps: boolean };

async function* inRows(inner: Dataset, form: Form, limit: number): AsyncGenerator<MadeTask> {
  let row: Task[] = [];
  for await (const task of inner.stream(form.steps ? Infinity : limit * form.count)) {
    if (form.steps && task.annotations.decomposition === undefined) continue;
    row.push(task);
    if (row.length < form.count) continue;
    yield asOne(row, form);
    row = [];
  }
}

function asOne(row: readonly Task[], { between, steps: bySteps }: Form): MadeTask {
  const annotations = row.map((task) => task.annotations);
  const steps = annotations.map(({ decomposition = [] }) => {
    const questions = stepQuestions(decomposition);
    return decomposition.map((step, i) => ({ ...step, question: questions[i] ?? "" }));
  });
  const parts = bySteps
    ? steps.flat().map(({ answer }) => [answer])
    : row.map(({ references }) => references);
  const [first = [], ...others] = parts;
  const gold = annotations.map(({ supportingPassages = [] }) => supportingPassages);
  return {
    id: row.map(({ id }) => id).join("+"),
    question: row.map(({ question }) => question).join(between),
    references: others.reduce(
      (all, next) => all.flatMap((before) => next.map((each) => `${before}${between}${each}`)),
      first,
    ),
    annotations: definedValues({
      type: "composed",
      parts,
      supportingPassages: ofAll(gold),
      decomposition: ofAll(steps),
      hops: ofAll(steps)?.length,
    }),
  };
}

/** Absent where one of the questions has none: those of the others alone would look like all. */
function ofAll<T>(lists: readonly (readonly T[])[]): T[] | undefined {
  return lists.every(({ length }) => length > 0) ? lists.flat() : undefined;
}
