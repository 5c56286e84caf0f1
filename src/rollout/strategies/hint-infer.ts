import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { Said } from "../dialogue.ts";
import { takesPrefix } from "../policy.ts";
import { type PlayedTurn, playMessage, rollOut, type TurnPlace } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** What is inserted. */
  hint: z.string().min(1).default(" Wait: I could search for that to make sure, before I answer."),
  /** Answers of a trajectory that are held up, at most. */
  times: z.int().min(1).default(1),
  /** Text that ends a policy's thinking. */
  thinkingEnd: z.string().min(1).default("</think>"),
});

/**
 * The agent's loop, in which an answer is held up: the message is taken back to before the end of its thinking (its answer, where it
 * thought nothing), the hint is put there, and the policy writes on. A policy whose messages cannot be begun for it reads the hint as
 * a reply to its answer.
 *
 * The messages that were taken back stay on record as drafts.
 */
export const hintInfer = defineStrategy({
  name: "hint-infer",
  summary: "An agent whose answer is held up by a hint to search, before its thinking ends.",
  source:
    "START, arXiv 2503.04625: Hint-infer before the end of thinking; with searches instead of code, and hints of our own",
  prompts: "grows",
  searches: true,
  options,
  run: (rollout, settings) => {
    let left = settings.times;
    return rollOut(rollout, {
      playTurn: (place) => playHinted(place, settings, () => left-- > 0),
    });
  },
});

async function playHinted(
  place: TurnPlace,
  { hint, thinkingEnd }: z.output<typeof options>,
  takeHint: () => boolean,
): Promise<PlayedTurn | null> {
  const { options: rollout, trajectory, turn } = place;
  const { policy, environment } = rollout;
  const base = place.said.filter(({ owner }) => owner !== "inserted");
  let { said, opening, dialogue: from } = place;
  // A sequence that an engine keeps holds a place that the fork, of this rollout and of others, waits for.
  place.dialogue.end();
  let held: { played: PlayedTurn; turn: Trajectory["turns"][number] } | null = null;
  for (let draft = 1; ; draft++) {
    const seed = seedFrom(rollout.seed, "attempt", turn, draft);
    const dialogue = from.fork({ id: `${rollout.id}~${turn}.${draft}`, seed });
    const own = { ...place, said, opening, dialogue, episode: place.episode.fork() };
    const played = await playMessage(own).finally(() => {
      dialogue.end();
    });
    if (played === null) {
      // Where there is no room to write on, the answer stands.
      if (held !== null) delete held.turn.chain;
      return held?.played ?? null;
    }
    const written = trajectory.turns.at(-1);
    const isAnswer = played.result.end === "answered" && !place.final;
    if (written === undefined || !isAnswer || !takeHint()) return played;
    written.chain = `draft-${draft}`;
    held = { played, turn: written };
    if (takesPrefix(policy)) {
      opening = beforeAnswer(written, thinkingEnd, environment.protocol.answerOpening) + hint;
      said = [...base, { owner: "inserted", text: opening } satisfies Said];
    } else {
      from = dialogue;
      opening = "";
      said = [{ owner: "environment", text: hint.trim() }];
    }
  }
}

/** A message up to where its thinking ends, or to its answer where it thought nothing. */
function beforeAnswer(
  { text }: Trajectory["turns"][number],
  thinkingEnd: string,
  answerOpening: string,
): string {
  const thought = text.lastIndexOf(thinkingEnd);
  const at = thought >= 0 ? thought : text.indexOf(answerOpening);
  return at >= 0 ? text.slice(0, at) : text;
}
