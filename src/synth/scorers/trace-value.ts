import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { answerIn } from "../../env/protocols/protocol.ts";
import { answersAny } from "../../math/answers-any.ts";
import type { ScoringPolicy } from "../../rollout/prompt-session.ts";
import type { Task } from "../../trajectory/task.ts";
import { type Trajectory, sequenceIds } from "../../trajectory/trajectory.ts";
import { type TraceParts, keptScore, soleMessage, traceParts } from "../steps/trace-edit.ts";
import { type ScorerResources, defineScorer, likelihoodOf, scoringTeacher } from "./scorer.ts";

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
    return {
      async score(task, trajectory, signal): Promise<Record<string, number>> {
        const turn = soleMessage(trajectory);
        const [reference] = task.references;
        if (turn === null || reference === undefined) return {};
        const { protocol, toolSchemas } = resources.environment;
        const parts = traceParts(turn.text, protocol);
        const isRight = await answersAny(trajectory.answer, task.references);
        const action = { tool: "answer", input: reference };
        const answer = isRight
          ? parts.answer
          : protocol.write({ thought: "", action }, toolSchemas);
        const tokensOf = (text: string): number => teacher.tokenizer.encode(text).length;
        const tokens = tokensOf(turn.text);
        const plain = {
          "original-right": Number(isRight),
          "edited-right": Number(isRight),
          "original-tokens": tokens,
          "edited-tokens": tokens,
        };
        const place = { teacher, task, trajectory, parts, answer, signal };
        const judge = teacherJudge(place, settings, resources);
        const { sentences, opening, closing } = parts;
        const found = await finalised(sentences, settings, judge);
        if (found === null) return plain;
        const kept = await pruned(sentences, found.end, settings, judge);
        const left = sentences.filter((_, i) => kept[i]).join("");
        return {
          ...plain,
          "prefix-value": found.value,
          "edited-right": 1,
          "edited-tokens": tokensOf(opening + left + closing + answer),
          ...Object.fromEntries(kept.map((stays, i) => [keptScore(i), Number(stays)])),
        };
      },
    };
  },
});

/** A trace whose teacher is asked. */
interface JudgedTrace {
  teacher: ScoringPolicy;
  task: Task;
  trajectory: Trajectory;
  parts: TraceParts;
  /** The right answer, as the protocol writes it. */
  answer: string;
  signal: AbortSignal;
}

function teacherJudge(
  { teacher, task, trajectory, parts, answer, signal }: JudgedTrace,
  { continuations, maxTokens, temperature: sampled }: Options,
  { environment: { protocol }, seed }: ScorerResources,
): Judge {
  const { opening, closing } = parts;
  const encode = (text: string): number[] => teacher.tokenizer.encode(text);
  const prompts = trajectory.calls.map((call) => ({ ...call, completion: [] }));
  const read = sequenceIds(prompts, 0);
  const after = (left: readonly string[], text = ""): number[] => [
    ...read,
    ...encode(opening + left.join("") + text),
  ];
  const ask = async (left: readonly string[], temperature: number, draw: number) => {
    signal.throwIfAborted();
    const { ids } = await teacher.complete({
      promptIds: after(left, closing + protocol.answerOpening),
      maxTokens,
      temperature,
      topP: 1,
      topK: 0,
      stopIds: teacher.tokenizer.endIds,
      stopStrings: protocol.stopStrings,
      sequence: null,
      seed: seedFrom(seed, "trace-value", trajectory.id, left.length, draw),
      task,
      turns: [],
    });
    const text = protocol.answerOpening + teacher.tokenizer.decode(ids);
    const written = answerIn(protocol, { prompt: "", messages: [text] });
    return answersAny(written, task.references);
  };
  return {
    async share(left) {
      const draws = Array.from({ length: continuations }, (_, k) => ask(left, sampled, k));
      return (await Promise.all(draws)).filter(Boolean).length / draws.length;
    },
    isRight: (left) => ask(left, 0, 0),
    async rest(left, following) {
      signal.throwIfAborted();
      const text = following.join("") + closing + answer;
      return (await likelihoodOf(teacher, after(left), text))?.sum ?? -Infinity;
    },
  };
}

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
      // What does not fit the context cannot be compared.
      if (!Number.isFinite(whole) || without < whole - tolerance) continue;
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
