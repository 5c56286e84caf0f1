import { placeOf } from "../../src/data/cards/card-dataset.ts";
import { cardNames } from "../../src/data/cards/card-names.ts";
import { type CardFile, readCard, sourceOf, splitOf } from "../../src/data/cards/card.ts";
import { writeOrigin } from "../../src/data/cards/dataset-place.ts";
import { writeJsonl } from "../../src/data/write-jsonl.ts";
import { writeParquet } from "../../src/data/write-parquet.ts";

/** The accepted answers of made-up questions: one of them each. */
export const ANSWERS = ["one", "two"] as const;

export interface Published {
  name: string;
  split?: string;
  source?: string;
}

/** Writes made-up questions or passages in the layout of a card, where a download would put them. */
export async function writePublished(
  { name, split, source }: Published,
  rows: number | "published",
): Promise<{ path: string; records: number }> {
  const card = readCard(name);
  const place = placeOf(card, { split, source });
  const { file } = splitOf(card, sourceOf(card, source, name), place.split, name);
  const count = rows === "published" ? file.records : rows;
  const records = () => recordsOf(name, place.split, file, count);
  const { bytes, sha256 } = await (place.path.endsWith(".parquet")
    ? writeParquet(place.path, records)
    : writeJsonl(place.path, records()));
  const { url, layout } = file;
  await writeOrigin(place.path, { url, sha256, bytes, records: count, layout, license: "" });
  return { path: place.path, records: count };
}

function* recordsOf(name: string, split: string, file: CardFile, count: number): Generator<object> {
  const write = layouts[file.layout === "flashrag" && name === "wiki18" ? "wiki" : file.layout];
  if (write === undefined) throw new Error(`no made-up record of layout ${file.layout}`);
  for (let i = 0; i < count; i++) yield write(i, split);
}

const question = (i: number): string => `Which river is number ${i} of the valley?`;
const answer = (i: number): string => ANSWERS[i % ANSWERS.length]!;
const titles = (i: number): string[] => Array.from({ length: 10 }, (_, k) => `River ${i}-${k}`);
const sentences = (i: number, k: number): string[] => [
  `River ${i}-${k} is in the valley.`,
  ` Its number is ${answer(i)}.`,
];
const context = (i: number): [string, string[]][] =>
  titles(i).map((title, k) => [title, sentences(i, k)]);
const facts = (i: number): [string, number][] => [
  [titles(i)[0]!, 1],
  [titles(i)[1]!, 0],
];

/** One record of each layout, as its dataset publishes it. */
const layouts: Partial<Record<string, (i: number, split: string) => object>> = {
  plain: (i) => ({ id: `q${i}`, question: question(i), answer: [answer(i)] }),
  flashrag: (i, split) => ({
    id: `${split}_${i}`,
    question: question(i),
    golden_answers: [answer(i)],
    metadata: {
      type: "bridge",
      supporting_facts: { title: facts(i).map(([title]) => title), sent_id: [1, 0] },
      context: { title: titles(i), content: titles(i).map((_, k) => sentences(i, k)) },
    },
  }),
  wiki: (i) => ({
    id: String(i),
    contents: `"River ${i}"\nRiver ${i} is in the valley. Its number is ${answer(i)}.`,
  }),
  hotpotqa: (i) => ({
    ...{ _id: `h${i}`, question: question(i), answer: answer(i) },
    ...{ type: "bridge", level: "hard", supporting_facts: facts(i), context: context(i) },
  }),
  "2wikimultihopqa": (i) => ({
    ...{ _id: `w${i}`, question: question(i), answer: answer(i), type: "compositional" },
    ...{ supporting_facts: facts(i), context: context(i) },
    evidences: [[titles(i)[0], "number", answer(i)]],
  }),
  musique: (i) => ({
    ...{ id: `2hop__${i}_1`, question: question(i), answer: answer(i), answer_aliases: [] },
    paragraphs: Array.from({ length: 20 }, (_, k) => ({
      ...{ idx: k, title: `River ${i}-${k}`, paragraph_text: sentences(i, k).join("") },
      is_supporting: k < 2,
    })),
    question_decomposition: [
      { id: 1, question: "Which valley?", answer: "the valley", paragraph_support_idx: 0 },
      { id: 2, question: "#1 >> number", answer: answer(i), paragraph_support_idx: 1 },
    ],
    answerable: true,
  }),
  triviaqa: (i) => ({
    ...{ QuestionId: `tc_${i}`, Question: question(i) },
    Answer: { Value: answer(i), Aliases: [answer(i)], NormalizedAliases: [answer(i)] },
  }),
  gsm8k: (i) => ({
    question: question(i),
    answer: `It is ${i} + 1 = <<${i}+1=${i + 1}>>${i + 1}.\n#### ${answer(i)}`,
  }),
  math: (i) => ({
    ...{ problem: question(i), level: `Level ${1 + (i % 5)}`, type: "Algebra" },
    solution: `It is $${i} + 1$, so the answer is $\\boxed{${answer(i)}}$.`,
  }),
  "math-prompt": (i) => ({
    ...{ data_source: "math_dapo", prompt: question(i), ability: "MATH" },
    reward_model: { ground_truth: answer(i), style: "rule" },
    extra_info: { index: `u${i}` },
  }),
};

/** Whether a dataset's name is that of a card of questions. */
export const isPublished = (name: string): boolean => cardNames("questions").includes(name);
