import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { answerIn } from "../../env/protocols/protocol.ts";
import { finalAnswer } from "../../math/extract-answer.ts";
import { mathEqual } from "../../math/math-equal.ts";
import { sequenceIds } from "../../trajectory/trajectory.ts";
import { keptScore, soleMessage, traceParts } from "../steps/trace-edit.ts";
import { defineScorer, likelihoodOf, scoringTeacher } from "./scorer.ts";

const options = z.strictObject({
  /** Words that begin a pattern of thought: the trace is cut before a sentence that begins with one. None: before each sentence. */
  cues: z
    .array(z.string().min(1))
    .default(["Wait", "Alternatively", "Check", "Maybe", "But", "However", "Hmm", "Let me"]),
  /** Answers that the teacher gives from each cut. */
  continuations: z.int().min(1).default(4),
  /** The trace ends at the earliest cut of whose answers a larger share than this is right. */
  threshold: z.number().min(0).lt(1).default(0.5),
  /** Sentences of a pattern that pruning may take out at once, at most; 0: nothing is pruned. */
  pruned: z.int().min(0).default(3),
  /** By how much the log-likelihood (nats) of all that follows may fall without a pattern. */
  tolerance: z.number().min(0).default(1),
  /** Of the answers from cuts. */
  temperature: z.number().positive().default(1),
  /** Tokens of such an answer, at most. */
  maxTokens: z.int().min(1).default(16),
});

type Options = z.output<typeof options>;

/**
 * What a finished trace could leave out. Finalisation: p_i is the share right of the answers that the teacher gives when it must answer
 * after the i-th cut; the trace ends at the earliest cut with p_i above the threshold and a right greedy answer. Pruning: of what is left
 * it takes out, from the first sentence on, patterns without which the teacher finds the rest and the right answer about as likely as
 * before, if its greedy answer stays right. Scores: `prefix-value` (p_i of that cut), `kept-0`, `kept-1` … (1: the sentence stays),
 * `original-right`, `edited-right`, `original-tokens`, `edited-tokens`; without such a cut the trace counts as edited into itself. One
 * message without calls is read, anything else has no score.
 *
 * Source: DTO, arXiv 2505.21765. Different here: the paper's auxiliary model, which marks redundant and harmful patterns, is the
 * teacher's own likelihood; threshold and number of answers are not published.
 * @example answers right after the cuts in 0, 3 and 4 of 4 cases, threshold .5 → the trace ends at the second cut, prefix-value .75
 */
export const traceValue = defineScorer({
  name: "trace-value",
  summary: "Where a trace could have answered, and which of its sentences it could leave out.",
  source: "DTO, arXiv 2505.21765; the judge of patterns and all constants are ours",
  gives: ["prefix-value", "original-right", "edited-right", "original-tokens", "edited-tokens"],
  options,
  open(settings, resources) {
    const teacher = scoringTeacher(resources.policy, "trace-value");
    const { protocol, toolSchemas } = resources.environment;
    return {
      async score(task, trajectory, signal): Promise<Record<string, number>> {
        const turn = soleMessage(trajectory);
        const [reference] = task.references;
        if (turn === null || reference === undefined) return {};
        const isRight = (answer: string | null) => isAnswer(answer, task.references);
        const { opening, sentences, closing } = traceParts(turn.text, protocol);
        const original = await isRight(trajectory.answer);
        const answer = protocol.write(
          {
            thought: "",
            action: { tool: "answer", input: original ? (trajectory.answer ?? "") : reference },
          },
          toolSchemas,
        );
        const tokensOf = (text: string): number => teacher.tokenizer.encode(text).length;
        const read = sequenceIds(
          trajectory.calls.map((call) => ({ ...call, completion: [] })),
          turn.call,
        );
        const after = (left: readonly string[], text = ""): number[] => [
          ...read,
          ...teacher.tokenizer.encode(opening + left.join("") + text),
        ];
        const ask = async (left: readonly string[], temperature: number, draw: number) => {
          const { ids } = await teacher.complete({
            promptIds: after(left, closing + protocol.answerOpening),
            maxTokens: settings.maxTokens,
            temperature,
            topP: 1,
            topK: 0,
            stopIds: teacher.tokenizer.endIds,
            stopStrings: protocol.stopStrings,
            sequence: null,
            seed: seedFrom(resources.seed, "trace-value", trajectory.id, left.length, draw),
            task,
            turns: [],
          });
          const text = protocol.answerOpening + teacher.tokenizer.decode(ids);
          return isRight(answerIn(protocol, { prompt: "", messages: [text] }));
        };
        const judge: Judge = {
          async share(left) {
            signal.throwIfAborted();
            const draws = Array.from({ length: settings.continuations }, (_, k) =>
              ask(left, settings.temperature, k),
            );
            return (await Promise.all(draws)).filter(Boolean).length / draws.length;
          },
          isRight: (left) => ask(left, 0, 0),
          async rest(left, following) {
            signal.throwIfAborted();
            const text = following.join("") + closing + answer;
            return (await likelihoodOf(teacher, after(left), text))?.sum ?? -Infinity;
          },
        };
        const tokens = tokensOf(turn.text);
        const right = Number(original);
        const plain = {
          "original-right": right,
          "edited-right": right,
          "original-tokens": tokens,
          "edited-tokens": tokens,
        };
        const found = await finalised(sentences, settings, judge);
        if (found === null) return plain;
        const kept = await pruned(sentences, found.end, settings, judge);
        const text = opening + sentences.filter((_, i) => kept[i]).join("") + closing + answer;
        return {
          ...plain,
          "prefix-value": found.value,
          "edited-right": 1,
          "edited-tokens": tokensOf(text),
          ...Object.fromEntries(kept.map((stays, i) => [keptScore(i), Number(stays)])),
        };
      },
    };
  },
});

/** What is asked of the teacher about sentences in place of a trace. */
export interface Judge {
  /** Share right of its answers after them. */
  share(left: readonly string[]): Promise<number>;
  /** Whether its greedy answer after them is right. */
  isRight(left: readonly string[]): Promise<boolean>;
  /** Log-likelihood (nats) of what follows them, and of the right answer. */
  rest(left: readonly string[], following: readonly string[]): Promise<number>;
}

/** The earliest cut from which the answer is right often enough: how many sentences stay, and their value. null: none. */
export async function finalised(
  sentences: readonly string[],
  { cues, threshold }: Pick<Options, "cues" | "threshold">,
  judge: Judge,
): Promise<{ end: number; value: number } | null> {
  for (let end = 1; end <= sentences.length; end++) {
    const next = sentences[end];
    if (next !== undefined && !begins(next, cues)) continue;
    const left = sentences.slice(0, end);
    const value = await judge.share(left);
    if (value > threshold && (await judge.isRight(left))) return { end, value };
  }
  return null;
}

/** Which sentences stay. @param end those from it on are gone already. */
export async function pruned(
  sentences: readonly string[],
  end: number,
  { cues, pruned: most, tolerance }: Pick<Options, "cues" | "pruned" | "tolerance">,
  judge: Judge,
): Promise<boolean[]> {
  const kept = sentences.map((_, i) => i < end);
  for (let from = 0; from < end; from++) {
    const before = sentences.slice(0, from).filter((_, i) => kept[i]);
    if (!begins(sentences[from] ?? "", cues)) continue;
    // The longest pattern first: a re-check without its verdict would leave the verdict behind.
    for (let to = Math.min(end, from + most); to > from; to--) {
      const following = sentences.slice(to, end);
      // A trace keeps a sentence.
      if (before.length + following.length === 0) continue;
      const whole = await judge.rest([...before, ...sentences.slice(from, to)], following);
      const without = await judge.rest(before, following);
      if (without < whole - tolerance) continue;
      if (!(await judge.isRight([...before, ...following]))) continue;
      kept.fill(false, from, to);
      from = to - 1;
      break;
    }
  }
  return kept;
}

function begins(sentence: string, cues: readonly string[]): boolean {
  return cues.length === 0 || cues.some((cue) => sentence.trimStart().startsWith(cue));
}

async function isAnswer(written: string | null, references: readonly string[]): Promise<boolean> {
  const answer = written === null ? null : finalAnswer(written, "answer");
  if (answer === null) return false;
  for (const reference of references) if (await mathEqual(answer, reference)) return true;
  return false;
}
