import { z } from "../base/schema.ts";
import { normalizeAnswer } from "../text/answer-normalizations.ts";
import { sentenceSpans } from "../text/sentence-spans.ts";
import { ENTAILMENT, entailmentPrompt, ROLE_REPLY } from "../trajectory/role-prompts.ts";
import { roleName } from "../trajectory/role.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/** Values by the verdict. binary: all that is not entailed is contradicted, as in the code. three-way: as in the paper. */
const SCALES = {
  binary: { entailed: 1, neutral: -1, contradicted: -1 },
  "three-way": { entailed: 1, neutral: 0, contradicted: -1 },
} as const;

/**
 * What a verifier says of each sentence of the thought, with the question's own passages as evidence, which the policy need not see.
 * The message must be one thought and one answer, each tag once and in order; with broken tags, and for questions without passages
 * (mathematics), no sentence has a value. Equal sentences with equal evidence are asked about once; a reply that is no verdict leaves its
 * sentence out.
 *
 * Source: FSPO, arXiv 2505.24630, and its code nusnlp/FSPO. Different here: the verifier is a role that replies in words
 * (`entailmentPrompt`; the base `entailment` accepts .58 of true sentences and .07 of false ones, on the 300 exercises on which `verdictIn` was chosen), where the code
 * thresholds the score of HHEM at .5; spans are those of the sentences in the message, where the
 * code counts the tokens of each sentence encoded by itself, so that its places drift.
 *
 * @example the second of two sentences is contradicted: +1 at the first, -1 at the second; per trajectory 0
 */
export const sentenceFactuality = defineReward({
  name: "sentence-factuality",
  summary: "Per sentence of the thought: 1 if the question's passages entail it, else -1 or 0.",
  range: [-1, 1],
  source: "FSPO, arXiv 2505.24630; nusnlp/FSPO",
  placed: ({ per }) => per === "sentence",
  options: z.strictObject({
    /** The model that is asked, such as the base `entailment`. */
    role: roleName(),
    /** binary: 1 where the passages entail the sentence, else -1. three-way: 0 where they neither entail nor contradict it. */
    scale: z.enum(["binary", "three-way"]).default("binary"),
    /** sentence: a value at each sentence. trajectory: their mean, 0 without one. */
    per: z.enum(["sentence", "trajectory"]).default("sentence"),
  }),
  async score({ trajectory, task }, { role, scale, per }, { roles, cache, signal }) {
    const { context: evidence = [] } = task.annotations;
    const thought = thoughtOf(trajectory);
    const model = roles.get(role, "rewards (sentence-factuality).role");
    const spans = evidence.length === 0 || thought === null ? [] : sentenceSpans(thought.text);
    const values = await Promise.all(
      spans.map(async ([from, to]) => {
        const passages = evidence.map(({ title, text }) => ({ title, text }));
        const asked = { passages, sentence: (thought?.text ?? "").slice(from, to) };
        const reply = await cache.get(asked, () =>
          model.complete(entailmentPrompt(asked), {
            maxTokens: MOST_TOKENS,
            stop: [ROLE_REPLY.closing],
            signal,
          }),
        );
        const verdict = verdictIn(reply, asked.sentence);
        if (verdict === null) return [];
        const at = thought?.at ?? 0;
        const span = [at + from, at + to] as const;
        return [{ turn: thought?.turn ?? 0, span, value: SCALES[scale][verdict] }];
      }),
    );
    const placed = values.flat();
    if (per === "sentence") return placed;
    const sum = placed.reduce((total, { value }) => total + value, 0);
    return placed.length === 0 ? 0 : sum / placed.length;
  },
});

/** A value of the passages and a verdict. */
const MOST_TOKENS = 16;

/** A prompt may have opened the thought. */
const WHOLE = /^(\s*(?:<think>)?)(.*?)<\/think>\s*<answer>.*<\/answer>\s*$/s;

/** The thought of a trajectory of one message whose tags are whole, and its place in it; else null. */
function thoughtOf({ turns }: Trajectory): { text: string; turn: number; at: number } | null {
  const own = turns.flatMap(({ chain, text }, turn) =>
    chain === undefined ? [{ text, turn }] : [],
  );
  const [message, ...more] = own;
  const found = WHOLE.exec(message?.text ?? "");
  if (message === undefined || found === null || more.length > 0) return null;
  const isOnce = (tag: string): boolean => message.text.split(tag).length <= 2;
  if (!["<think>", "</think>", "<answer>", "</answer>"].every(isOnce)) return null;
  return { text: found[2] ?? "", turn: message.turn, at: (found[1] ?? "").length };
}

/**
 * The verdict is a reply's last word; where it first writes the value that the passages state, whether the sentence has that value decides:
 * small models copy better than they compare. @example "The mayor of Oslo is Ibsen.", "Grieg true" → contradicted
 */
function verdictIn(reply: string, sentence: string): keyof typeof ENTAILMENT | null {
  const words = reply.trim().split(/\s+/);
  const found = Object.entries(ENTAILMENT).find(([, word]) => word === words.at(-1));
  if (found === undefined) return null;
  const verdict = found[0] as keyof typeof ENTAILMENT;
  const value = normalizeAnswer(words.slice(0, -1).join(" "));
  if (value === "" || verdict === "neutral") return verdict;
  return ` ${normalizeAnswer(sentence)} `.includes(` ${value} `) ? "entailed" : "contradicted";
}
