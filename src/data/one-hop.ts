import type { Passage, Task } from "../trajectory/task.ts";
import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { type Dataset, datasetSchema, defineDataset } from "./dataset.ts";

/** Questions that people ask; other relations read "What is the RELATION of SUBJECT?". */
const QUESTIONS: Readonly<Record<string, string>> = {
  director: "Who directed {subject}?",
  composer: "Who composed {subject}?",
  performer: "Who performed {subject}?",
  producer: "Who produced {subject}?",
  father: "Who is the father of {subject}?",
  mother: "Who is the mother of {subject}?",
  spouse: "Who is married to {subject}?",
  child: "Who is a child of {subject}?",
  sibling: "Who is a sibling of {subject}?",
  "date of birth": "When was {subject} born?",
  "date of death": "When did {subject} die?",
  "place of birth": "Where was {subject} born?",
  "place of death": "Where did {subject} die?",
  "publication date": "When was {subject} released?",
  inception: "When was {subject} founded?",
  "founded by": "Who founded {subject}?",
  "country of citizenship": "Which country is {subject} a citizen of?",
  "country of origin": "Which country is {subject} from?",
  country: "Which country is {subject} in?",
  "educated at": "Where was {subject} educated?",
};

/**
 * One question for each triple of another dataset's questions (`annotations.evidences`), such as 2WikiMultihopQA's: with the object as answer and
 * the passage about the subject as gold. A triple whose passage does not contain the object is left out, because nobody could read the
 * answer there, and so is one that was asked before. To learn reading before chains of it.
 */
export const oneHop = defineDataset({
  name: "one-hop",
  summary: "One question for each triple of a dataset's questions.",
  options: z.strictObject({
    of: datasetSchema,
    /** Most questions, from the start. */
    questions: z.int().min(1).optional(),
  }),
  async open({ of, questions = Infinity }, { open }) {
    const inner = await open(of);
    return {
      facts: [inner.fingerprint, questions],
      trainable: inner.trainable,
      stream: (limit) => singleSteps(inner, Math.min(limit, questions)),
      passages: () => inner.passages(),
    };
  },
});

/** @throws {ConfigError} RECIPE_BAD_VALUE when no triple gives a question. */
async function* singleSteps(inner: Dataset, limit: number): AsyncGenerator<Task> {
  const asked = new Set<string>();
  for await (const task of inner.stream()) {
    for (const single of singleStepsOf(task)) {
      if (asked.size >= limit) return;
      if (asked.has(single.question)) continue;
      asked.add(single.question);
      yield single;
    }
  }
  if (asked.size > 0) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `one-hop: no question of ${inner.name} has a triple with its passage. Use a dataset with evidences and contexts, such as 2wikimultihopqa.`,
  );
}

function singleStepsOf({ id, source, annotations }: Task): Task[] {
  const { evidences = [], context = [] } = annotations;
  return evidences.flatMap(({ subject, relation, object }, step) => {
    const told = context.find((passage) => tells(passage, subject, object));
    if (told === undefined) return [];
    const form = QUESTIONS[relation] ?? `What is the ${relation} of {subject}?`;
    const single: Task = {
      id: `${id}-${step}`,
      question: form.replace("{subject}", () => subject),
      references: [object],
      source,
      annotations: { type: "one-hop", hops: 1, supportingPassages: [told.id], context },
    };
    return [single];
  });
}

function tells({ title, text }: Passage, subject: string, object: string): boolean {
  return title === subject && text.toLowerCase().includes(object.toLowerCase());
}
