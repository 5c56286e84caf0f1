import { z } from "../../base/schema.ts";
import { defineLayout, answerList, badRecord, filledText, idText, parseRecord } from "./layout.ts";

const trlSchema = z.object({
  id: idText.optional(),
  question: filledText,
  references: answerList,
  source: z.string().optional(),
});

/** Rows for TRL's GRPO trainer: `prompt` as a conversation; rewards and environments receive every other column by its name. */
export const trl = defineLayout({
  holds: "questions",
  name: "trl",
  summary: "prompt[], question, references[], id, source",
  example: {
    record: {
      id: "r1",
      prompt: [{ role: "user", content: "Answer: Who wrote it?" }],
      question: "Who wrote it?",
      references: ["Ada"],
      source: "nq",
    },
    task: { id: "r1", references: ["Ada"], source: "nq" },
    unanswered: { references: [] },
  },
  fits: (record) => "prompt" in record && "references" in record,
  read: (record, where) => {
    const { id, question, references, source } = parseRecord(trlSchema, record, where);
    return { id, question, references, source, annotations: {} };
  },
  write: {
    keeps: [],
    keepsSource: true,
    record: ({ id, question, references, source }, { prompt }) => ({
      prompt: [{ role: "user", content: prompt }],
      question,
      references,
      id,
      source,
    }),
  },
});

/** verl's own scripts put the bare question into `extra_info`, and an answer without a rule of Search-R1 into `ground_truth` itself. */
const verlSchema = z.object({
  id: idText.nullish(),
  question: filledText.nullish(),
  data_source: z.string().optional(),
  reward_model: z.object({ ground_truth: z.preprocess(targetOf, answerList) }),
  extra_info: z.object({ id: idText.nullish(), question: filledText.nullish() }).nullish(),
});

function targetOf(truth: unknown): unknown {
  return typeof truth === "object" && truth !== null && "target" in truth ? truth.target : truth;
}

/** Datasets that the reward rules of verl and Search-R1 know by these names. */
const SEARCH_R1_SOURCES = new Set(
  ["nq", "triviaqa", "popqa", "hotpotqa", "2wikimultihopqa", "musique"].concat("bamboogle"),
);

/**
 * Rows that verl trains on, from Parquet files: `data_source` selects verl's reward rule, `reward_model.ground_truth` is its input,
 * `extra_info.tools_kwargs` goes to the tool named search. The columns of Search-R1's training set (id, question,
 * golden_answers) are included.
 */
export const verl = defineLayout({
  holds: "questions",
  name: "verl",
  summary: "prompt[], data_source, reward_model.ground_truth.target[]",
  example: {
    record: {
      id: "r1",
      prompt: [{ role: "user", content: "Answer: Who wrote it?" }],
      question: "Who wrote it?",
      data_source: "searchR1_nq",
      golden_answers: ["Ada"],
      reward_model: { style: "rule", ground_truth: { target: ["Ada", "Ada Roth"] } },
    },
    task: { id: "r1", references: ["Ada", "Ada Roth"], source: "nq" },
    unanswered: { reward_model: { ground_truth: { target: [] } } },
  },
  fits: (record) => "reward_model" in record && ("question" in record || "prompt" in record),
  read: (record, where) => {
    const { data_source, reward_model, extra_info, ...own } = parseRecord(
      verlSchema,
      record,
      where,
    );
    const question = own.question ?? extra_info?.question;
    if (question == null)
      throw badRecord(
        `${where}: neither "question" nor "extra_info.question" has the question; "prompt" has it among instructions. Add a column question, or name one with --question-field.`,
      );
    const source = data_source?.replace(/^searchR1_/, "");
    const given = own.id ?? extra_info?.id ?? undefined;
    // Search-R1's rows of several datasets keep FlashRAG's ids, which count from 0 in each.
    const isCounted = given !== undefined && /^(train|dev|test)_\d+$/.test(given);
    const id = isCounted && source !== undefined ? `${source}-${given}` : given;
    return { id, question, references: reward_model.ground_truth, source, annotations: {} };
  },
  write: {
    keeps: [],
    keepsSource: true,
    record: ({ id, question, references, source }, { index, split, prompt }) => {
      const data_source = SEARCH_R1_SOURCES.has(source) ? `searchR1_${source}` : source;
      const ground_truth = { target: references };
      return {
        id,
        question,
        golden_answers: references,
        data_source,
        prompt: [{ role: "user", content: prompt }],
        ability: "fact-reasoning",
        reward_model: { style: "rule", ground_truth },
        extra_info: {
          index,
          split,
          id,
          question,
          need_tools_kwargs: true,
          tools_kwargs: { search: { create_kwargs: { ground_truth, question, data_source } } },
        },
      };
    },
  },
});
