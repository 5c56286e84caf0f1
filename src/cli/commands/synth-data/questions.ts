import { writeFileAtomic } from "../../../base/files.ts";
import { plural, quoted } from "../../../base/format.ts";
import { DEFAULT_ASK } from "../../../synth/questions/masked-questions.ts";
import { claimOutput } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { jsonFlag, overwriteFlag, seedFlag, wholeNumber } from "../../options.ts";

const HOPS = ["1", "2"] as const;

/** `agentrl synth-data questions`: questions about the user's own passages. */
export const synthQuestions = defineCommand({
  name: "questions",
  summary: "make questions with sure answers from an index of your passages",
  description:
    "Make questions from the passages of an index, without a model: a name or number is taken out of a sentence, where no other passage has it, " +
    "so the answer is sure and has to be found. With --hops 2 another name is hidden too, which a second passage tells. " +
    "One JSON line a question, as --dataset and `init --questions` read them.",
  args: [],
  options: {
    index: ["<folder>", "index of the passages, from `agentrl index build` or `agentrl init`"],
    out: ["<file>", "file to write, e.g. questions.jsonl"],
    limit: ["<n>", "questions at most, one for each passage (default: 500)", wholeNumber(1)],
    hops: ["<n>", "passages that a question needs (default: 1)", HOPS],
    ask: ["<text>", `what to write before the sentence (default: "${DEFAULT_ASK}")`],
    seed: seedFlag("seed; the same seed gives the same questions (default: 1)"),
    overwrite: overwriteFlag(),
    json: jsonFlag(),
  },
  required: ["index", "out"],
  async run(flags, context) {
    const { index, out, limit = 500, hops = "1", ask = DEFAULT_ASK, seed = 1 } = flags;
    claimOutput(out, flags.overwrite);
    const { indexPassages } = await import("../../../retrieval/bm25/open-index.ts");
    const { maskedQuestions, questionLines, requireQuestions } =
      await import("../../../synth/questions/masked-questions.ts");
    const settings = { limit, seed, hops: hops === "2" ? 2 : 1, ask } as const;
    const { tasks, passages } = await maskedQuestions(() => indexPassages(index), settings);
    requireQuestions(tasks, index, passages);
    await writeFileAtomic(out, questionLines(tasks));
    const [first] = tasks;
    const example = `${first?.question ?? ""}\n→ ${first?.references[0] ?? ""}`;
    const found = `${plural(tasks.length, "question")} from ${plural(passages, "passage")}`;
    context.out(
      flags.json === true
        ? JSON.stringify({ out, questions: tasks.length, passages })
        : `${found}: ${quoted(out)}\n\n${example}`,
    );
  },
});
