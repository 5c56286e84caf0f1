import { definedValues } from "../base/defined-values.ts";
import { z } from "../base/schema.ts";
import { stepQuestions, type Task } from "../trajectory/task.ts";
import { type Dataset, datasetSchema, defineDataset, type MadeTask } from "./dataset.ts";

/**
 * Several questions in a row as one, which is answered by all of their answers, in order. Every choice of accepted answers is a reference, and
 * `annotations.parts` has those of each question. Source: MEM1, arXiv 2506.15841, tasks of several objectives.
 */
export const composed = defineDataset({
  name: "composed",
  summary: "Several questions of a dataset as one, which asks for all of their answers.",
  options: z.strictObject({
    of: datasetSchema,
    /** Questions in each; what is left at the end is dropped. */
    count: z.int().min(2).default(2),
    /** Text between two questions, and between two answers. */
    between: z.string().min(1).default("; "),
  }),
  async open({ of, count, between }, { open }) {
    const inner = await open(of);
    return {
      facts: [inner.fingerprint, count, between],
      trainable: inner.trainable,
      stream: (limit) => inRows(inner, count, between, limit),
      passages: () => inner.passages(),
    };
  },
});

async function* inRows(
  inner: Dataset,
  count: number,
  between: string,
  limit: number,
): AsyncGenerator<MadeTask> {
  let row: Task[] = [];
  for await (const task of inner.stream(limit * count)) {
    row.push(task);
    if (row.length < count) continue;
    yield asOne(row, between);
    row = [];
  }
}

function asOne(row: readonly Task[], between: string): MadeTask {
  const parts = row.map(({ references }) => references);
  const [first = [], ...others] = parts;
  const annotations = row.map((task) => task.annotations);
  const steps = annotations.map(({ decomposition = [] }) => {
    const questions = stepQuestions(decomposition);
    return decomposition.map((step, i) => ({ ...step, question: questions[i] ?? "" }));
  });
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
