import { definedValues } from "../base/defined-values.ts";
import { z } from "../base/schema.ts";
import type { Passage, SolutionStep, Task, TaskAnnotations } from "../trajectory/task.ts";
import { type Dataset, datasetSchema, defineDataset } from "./dataset.ts";

/**
 * The questions of several datasets as one, in the order in which they are named. Ids begin with the dataset's name, since published
 * files count theirs from 0 each; those of passages as well, also where a question names them.
 */
export const joined = defineDataset({
  name: "joined",
  summary: "The questions of several datasets, as one.",
  options: z
    .strictObject({
      of: z.array(datasetSchema).min(2),
      /** Share of each dataset in the batches of a training by rollouts, in any sum: [1, 1, 3, 3]; default: by their sizes. A smaller dataset is repeated more often. */
      weights: z.array(z.number().gt(0)).optional(),
    })
    .refine(
      ({ of, weights = of }) => weights.length === of.length,
      "expected as many weights as datasets",
    ),
  async open({ of, weights }, { open }) {
    const parts: { prefix: string; dataset: Dataset; mixture: Mixture }[] = [];
    for (const [i, setting] of of.entries()) {
      const same = parts.filter(({ prefix }) => prefix.split(":")[0] === setting.name).length;
      const prefix = same === 0 ? setting.name : `${setting.name}:${same + 1}`;
      const weight = weights?.[i];
      const mixture = weight === undefined ? undefined : { part: prefix, weight };
      parts.push({ prefix, dataset: await open(setting), mixture });
    }
    return {
      name: parts.map(({ dataset }) => dataset.name).join(" + "),
      facts: [...parts.map(({ dataset }) => dataset.fingerprint), ...(weights ?? [])],
      trainable: parts.every(({ dataset }) => dataset.trainable),
      async *stream(limit) {
        let left = limit;
        for (const { prefix, dataset, mixture } of parts) {
          if (left <= 0) return;
          for await (const task of dataset.stream(left)) {
            left -= 1;
            yield renamed(task, (id) => `${prefix}:${id}`, mixture);
          }
        }
      },
      async *passages() {
        for (const { prefix, dataset } of parts) {
          for await (const passage of dataset.passages())
            yield { ...passage, id: `${prefix}:${passage.id}` };
        }
      },
    };
  },
});

type Mixture = TaskAnnotations["mixture"];

/** A question with other ids: its own, and those of all passages that it names. @param mixture default: its own. */
function renamed(
  task: Task,
  name: (id: string) => string,
  mixture: Mixture = task.annotations.mixture,
): Task {
  const { supportingPassages, context, decomposition, routes, duplicateOf } = task.annotations;
  const ofStep = (step: SolutionStep): SolutionStep => {
    return { ...step, passage: step.passage === null ? null : name(step.passage) };
  };
  const ofPassage = (passage: Passage): Passage => ({ ...passage, id: name(passage.id) });
  return {
    ...task,
    id: name(task.id),
    annotations: definedValues({
      ...task.annotations,
      supportingPassages: supportingPassages?.map(name),
      context: context?.map(ofPassage),
      decomposition: decomposition?.map(ofStep),
      routes: routes?.map((route) => route.map(ofStep)),
      mixture,
      duplicateOf: duplicateOf === undefined ? undefined : name(duplicateOf),
    }),
  };
}
