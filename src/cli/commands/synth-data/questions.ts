import { parseOptions } from "../../../base/schema.ts";
import { writeFileAtomic } from "../../../base/files.ts";
import { plural, quoted } from "../../../base/format.ts";
import { DEFAULT_ASK, type MaskedQuestions } from "../../../synth/questions/masked-questions.ts";
import { claimOutput } from "../../claim-output.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { endpointOptions, servedModel, type ServedModelFlags } from "../../endpoint-flags.ts";
import { usage } from "../../usage.ts";
import { jsonFlag, overwriteFlag, seedFlag, wholeNumber } from "../../options.ts";

const HOPS = ["1", "2"] as const;
/** Of a teacher's reply. */
const MAX_TOKENS = 256;

// Without prices: no cost is shown.
const { apiKeyEnv, maxTokens, concurrency, timeoutMs, retries, cache, noCache } = endpointOptions({
  maxTokens: `${MAX_TOKENS}`,
  cache: "none",
});

/** `agentrl synth-data questions`: questions about the user's own passages. */
export const synthQuestions = defineCommand({
  name: "questions",
  summary: "make questions with sure answers from an index of your passages",
  description:
    "Make questions from the passages of an index, without a model: a name or number is taken out of a sentence, where no other passage has it, " +
    "so the answer is sure and has to be found. With --hops 2 another name is hidden too, which a second passage tells. " +
    "With --teacher a model puts each into its own words, and must find the same answer again. " +
    "One JSON line a question, as --dataset and `init --questions` read them.",
  args: [],
  options: {
    index: ["<folder>", "index of the passages, from `agentrl index build` or `agentrl init`"],
    out: ["<file>", "file to write, e.g. questions.jsonl"],
    limit: ["<n>", "questions at most, one for each passage (default: 500)", wholeNumber(1)],
    hops: ["<n>", "passages that a question needs (default: 1)", HOPS],
    ask: ["<text>", `what to write before the sentence (default: "${DEFAULT_ASK}")`],
    seed: seedFlag("seed; the same seed gives the same questions (default: 1)"),
    teacher: ["<url>", "OpenAI-compatible server whose model words the questions anew"],
    model: ["<name>", "for a server: the model, as it names it"],
    ...{ apiKeyEnv, maxTokens, concurrency, timeoutMs, retries, cache, noCache },
    overwrite: overwriteFlag(),
    json: jsonFlag(),
  },
  required: ["index", "out"],
  async run(flags, context) {
    const { index, out, limit = 500, hops = "1", ask = DEFAULT_ASK, seed = 1 } = flags;
    if (flags.teacher === undefined && flags.model !== undefined)
      throw usage("--model names the model of a server. Add --teacher, the server's address.");
    claimOutput(out, flags.overwrite);
    const { indexPassages } = await import("../../../retrieval/bm25/open-index.ts");
    const { maskedQuestions, questionLines, requireQuestions } =
      await import("../../../synth/questions/masked-questions.ts");
    const settings = { limit, seed, hops: hops === "2" ? 2 : 1, ask } as const;
    const made = await maskedQuestions(() => indexPassages(index), settings);
    requireQuestions(made.tasks, index, made.passages);
    const { tasks, changed } =
      flags.teacher === undefined
        ? { tasks: made.tasks, changed: 0 }
        : await wordedBy(flags.teacher, made, flags, context);
    await writeFileAtomic(out, questionLines(tasks));
    const { passages } = made;
    const [first] = tasks;
    const example = `${first?.question ?? ""}\n→ ${first?.references[0] ?? ""}`;
    const worded = flags.teacher === undefined ? "" : `, ${changed} worded by ${flags.model}`;
    const found = `${plural(tasks.length, "question")} from ${plural(passages, "passage")}${worded}`;
    context.out(
      flags.json === true
        ? JSON.stringify({ out, questions: tasks.length, worded: changed, passages })
        : `${found}: ${quoted(out)}\n\n${example}`,
    );
  },
});

async function wordedBy(
  teacher: string,
  { tasks, told }: MaskedQuestions,
  flags: ServedModelFlags,
  { signal }: CliContext,
): Promise<{ tasks: MaskedQuestions["tasks"]; changed: number }> {
  const { endpointRole } = await import("../../../rollout/roles.ts");
  const { endpointSchema } = await import("../../../rollout/model-settings.ts");
  const { reworded } = await import("../../../synth/questions/reworded.ts");
  const settings = parseOptions(
    endpointSchema,
    servedModel(teacher, flags, "--teacher"),
    "teacher",
  );
  const { maxTokens = MAX_TOKENS } = flags;
  return reworded(tasks, told, { teacher: endpointRole("teacher", settings), maxTokens, signal });
}
