import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { exactMatch } from "../../text/answers.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { firstThought as askFirstThought } from "../first-thought.ts";
import { type PlayedTurn, playMessage, type TurnPlace } from "../play-message.ts";
import { record } from "../record.ts";
import { rollOutOn, type RolloutVariant } from "../roll-out.ts";
import { majority } from "../votes.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Messages per turn (paper: N). */
  actions: z.int().min(2).default(8),
  temperature: z.number().positive().default(0.4),
  topP: z.number().gt(0).max(1).default(0.8),
  /** Prefills the first message with the first step of a chain of thought from an earlier request. */
  firstThought: z.boolean().default(false),
  /** Text before that thought. */
  thoughtOpening: z.string().default("<think>"),
});

/**
 * At each turn several messages are drawn and their actions run. Of those without a problem the one with the most frequent outcome
 * (observations or answer) continues; the first wins a tie, or continues if none is valid, so that the policy reads its correction.
 * The others are recorded as candidates. `confidence` is the share of all candidates that gave the answer.
 */
export const selfConsistentActions = defineStrategy({
  name: "self-consistent-actions",
  summary: "Tries several messages per turn and continues with the most frequent outcome.",
  source:
    "Agent Distillation, arXiv 2505.17612: self-consistent action generation, first-thought prefix; over the environment's tools instead of code",
  prompts: "grows",
  searches: true,
  options,
  example: { settings: { actions: 3 } },
  run: (rollout, { actions, temperature, topP, firstThought, thoughtOpening }) =>
    record(rollout, async (trajectory) => {
      const sampled = { ...rollout, sampling: { ...rollout.sampling, temperature, topP } };
      const variant: RolloutVariant = { playTurn: (place) => playBest(place, actions) };
      if (!firstThought) return rollOutOn(sampled, trajectory, variant);
      const thought = await askFirstThought(rollout, trajectory);
      if (thought === null) return "context-limit";
      const prefill = `${thoughtOpening}${thought}`;
      const prefillRequest = `\nBegin with: ${prefill}`;
      return rollOutOn(sampled, trajectory, { ...variant, prefill, prefillRequest });
    }),
});

type Candidate = { played: PlayedTurn; turn: Trajectory["turns"][number] };

async function playBest(place: TurnPlace, count: number): Promise<PlayedTurn | null> {
  const { options: rollout, trajectory, turn } = place;
  const candidates: Candidate[] = [];
  // Kept sequences occupy slots of the engine that candidates of this and other rollouts need.
  place.dialogue.end();
  for (let k = 0; k < count; k++) {
    const id = `${rollout.id}~${turn}.${k}`;
    const seed = seedFrom(rollout.seed, "candidate", turn, k);
    const dialogue = place.dialogue.fork({ id, seed });
    const own = { ...place, dialogue, episode: place.episode.fork() };
    try {
      const played = await playMessage(own, `candidate-${k + 1}`);
      const recorded = trajectory.turns.at(-1);
      if (played === null || recorded === undefined) return null;
      candidates.push({ played, turn: recorded });
    } finally {
      dialogue.end();
    }
  }
  const { first, votes } = vote(candidates);
  const kept = candidates[first ?? 0];
  if (kept === undefined) return null;
  for (const { turn: tried } of candidates) tried.dropped = true;
  delete kept.turn.chain;
  delete kept.turn.dropped;
  if (kept.played.result.end === "answered") trajectory.confidence = votes / count;
  return kept.played;
}

type Outcome = { kind: "answer" | "observation"; text: string };

function vote(candidates: readonly Candidate[]): { first: number | null; votes: number } {
  return majority(candidates.map(outcomeOf), (left, right) => {
    if (left.kind !== right.kind) return false;
    return left.kind === "answer"
      ? exactMatch(left.text, [right.text]) === 1
      : left.text === right.text;
  });
}

function outcomeOf({ played: { result } }: Candidate): Outcome | null {
  const { actions, problems, observations, end } = result;
  const text = (parts: readonly { text: string }[]) => parts.map((each) => each.text).join("\n");
  if (end === "answered") return { kind: "answer", text: actions[0]?.input ?? "" };
  const isValid =
    problems.length === 0 && observations.every(({ problem }) => problem === undefined);
  if (!isValid || observations.length === 0) return null;
  return { kind: "observation", text: text(observations) };
}
