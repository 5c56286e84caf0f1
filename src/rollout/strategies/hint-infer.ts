import { partSchema } from "../../base/define-part.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { InsertedHint, Trajectory } from "../../trajectory/trajectory.ts";
import type { Input, Interject, Interjection, Message } from "../dialogue.ts";
import type { OpenedHint } from "../hints/hint.ts";
import { hints, hints as parts } from "../hints/index.ts";
import {
  type PlayedTurn,
  type TurnPlace,
  askForMessage,
  playMessage,
  playWritten,
} from "../play-message.ts";
import { takesPrefill } from "../policy.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** The hints, each by name, with the options of its part. */
  hints: z.array(partSchema(hints)).min(1).prefault(["before-answer"]),
});

/** The agent's loop with hints inserted into the policy's messages; a policy without prefill gets hints as replies. */
export const hintInfer = defineStrategy({
  name: "hint-infer",
  summary: "An agent steered by hints: by default, a hint to search before it answers.",
  source:
    "START, arXiv 2503.04625: Hint-infer; CoRT, arXiv 2506.09820: Hint-Engineering; with searches instead of code, and hints of our own",
  prompts: "grows",
  searches: true,
  readsGold: ({ hints }) =>
    hints.some(({ name, ...options }) => parts.get(name, "hints").readsGold(options)),
  options,
  run: (rollout, settings) =>
    rollOut(rollout, { playTurn: hintedTurns(settings.hints, rollout.seed) }),
});

type HintSettings = { name: string } & Record<string, unknown>;

type Hint = { name: string; opened: OpenedHint; readsGold: boolean; fired: number };

/**
 * Plays each turn of one rollout with hints: of several the earliest place comes first; the final turn gets none. A server that cannot
 * prefill gets a prefill as an instruction, any other hint as a reply to the message, which has no effect and is recorded as a draft.
 */
function hintedTurns(
  settings: readonly HintSettings[],
  seed: number,
): (place: TurnPlace) => Promise<PlayedTurn | null> {
  const hints = settings.map(({ name, ...options }, i): Hint => {
    const part = parts.get(name, "hints");
    const opened = part.open(options, random(seed).derive("hint", i));
    return { name, opened, readsGold: part.readsGold(options), fired: 0 };
  });
  return async (place) => {
    if (place.final) return playMessage(place);
    const begun = await beginning(place, hints);
    return takesPrefill(place.options.policy)
      ? playInterrupted(begun, hints)
      : playReplied(begun, hints);
  };
}

type RecordedHint = Omit<InsertedHint, "call">;
type BegunPlace = TurnPlace & { hints: readonly RecordedHint[] };

async function beginning(place: TurnPlace, hints: readonly Hint[]): Promise<BegunPlace> {
  const recorded: RecordedHint[] = [];
  const withheld: string[] = [];
  const begun: Input[] = [];
  let { prefill } = place;
  for (const { name, opened, readsGold } of hints) {
    const hidden = place.turn === 0 ? (opened.afterPrompt?.(place) ?? null) : null;
    if (hidden !== null) {
      const marks = { withheld: true, readsGold: readsGold ? readsGold : undefined } as const;
      recorded.push({ name, text: hidden, ...marks });
      withheld.push(hidden);
    }
    const text = (await opened.prefill?.(place)) ?? null;
    if (text === null) continue;
    if (takesPrefill(place.options.policy)) {
      recorded.push({ name, text });
      begun.push({ owner: "inserted", text });
      prefill += text;
    } else {
      const request = `\nBegin with: ${text}`;
      recorded.push({ name, text: request, withheld: true });
      withheld.push(request);
    }
  }
  const inputs = place.inputs.map((each, i) =>
    i === 0 && withheld.length > 0 ? { ...each, withheld } : each,
  );
  return { ...place, inputs: [...inputs, ...begun], prefill, hints: recorded };
}

async function playInterrupted(
  place: BegunPlace,
  hints: readonly Hint[],
): Promise<PlayedTurn | null> {
  const here: Hint[] = [];
  const interject: Interject = (message, put) => {
    const last = put.at(-1);
    const from = last === undefined ? place.prefill.length : last.at + last.text.length;
    const next = nextHint(hints, { place, message, from }, here);
    if (next === null) return null;
    here.push(next.by);
    return next.put;
  };
  const before = countOf(place.trajectory);
  const played = await playMessage({ ...place, interject });
  // The last hint may not have fitted.
  const put = countOf(place.trajectory) - before - place.hints.length;
  for (const hint of here.slice(0, Math.max(0, put))) hint.fired += 1;
  return played;
}

function countOf({ hints = [] }: Trajectory): number {
  return hints.length;
}

/** Plays a message and sends hints as replies until none is left. If a hint does not fit the context, the message stands. */
async function playReplied(begun: BegunPlace, hints: readonly Hint[]): Promise<PlayedTurn | null> {
  const { options, trajectory } = begun;
  const here: Hint[] = [];
  let place: TurnPlace = begun;
  let held: { place: TurnPlace; message: Message; by: Hint } | null = null;
  for (let draft = 1; ; draft++) {
    const message = await askForMessage(place);
    if (message === null && held === null) return null;
    if (message !== null && held !== null) {
      recordDraft(trajectory, held, `draft-${draft - 1}`, options);
      here.push(held.by);
    }
    const next = message && nextHint(hints, { place: begun, message: message.text, from: 0 }, here);
    if (message !== null && next !== null) {
      held = { place, message, by: next.by };
      const { name, text } = next.put;
      const hint = { name, text: text.trim() };
      // A fork, because a refused hint must not stay in the dialogue.
      const dialogue = place.dialogue.fork({ id: options.id, seed: options.seed });
      const inputs: Input[] = [{ owner: "inserted", text: hint.text }];
      place = { ...begun, dialogue, inputs, prefill: "", hints: [hint] };
      continue;
    }
    for (const hint of here) hint.fired += 1;
    if (message !== null) return playWritten(place, message);
    return held && playWritten(held.place, held.message);
  }
}

function recordDraft(
  trajectory: Trajectory,
  { message: { call, text } }: { message: Message },
  chain: string,
  { environment }: TurnPlace["options"],
): void {
  const { actions, problems } = environment.protocol.parse(text);
  trajectory.turns.push({ call, text, actions, problems, observations: [], chain });
}

/** The hint with the earliest place in a message; of equals, the first in the settings. */
function nextHint(
  hints: readonly Hint[],
  moment: { place: TurnPlace; message: string; from: number },
  here: readonly Hint[],
): { by: Hint; put: Interjection } | null {
  let first: { by: Hint; put: Interjection } | null = null;
  for (const by of hints) {
    const firedHere = here.filter((each) => each === by).length;
    const fired = by.fired + firedHere;
    const put = by.opened.interject?.({ ...moment, fired, firedHere }) ?? null;
    if (put === null || put.keep < moment.from) continue;
    if (first === null || put.keep < first.put.keep) first = { by, put: { name: by.name, ...put } };
  }
  return first;
}
