import { random } from "../../base/random.ts";
import type { InsertedHint, Trajectory } from "../../trajectory/trajectory.ts";
import type { Interject, Interjection, Message, Said } from "../dialogue.ts";
import { takesPrefix } from "../policy.ts";
import {
  askForMessage,
  type PlayedTurn,
  playMessage,
  playWritten,
  type TurnPlace,
} from "../roll-out.ts";
import type { OpenedHint } from "./hint.ts";
import { hints as parts } from "./index.ts";

/** A hint in settings, checked by its part. */
export type HintSettings = { name: string } & Record<string, unknown>;

/** An active hint. */
interface Hint {
  name: string;
  opened: OpenedHint;
  readsGold: boolean;
  /** Insertions into messages of earlier turns. */
  fired: number;
}

/**
 * Plays each turn of one rollout with hints. Of several possible insertions the earliest place comes first; a final turn without tools gets
 * no hint.
 *
 * A policy without prefill gets openings as instructions. Other hints are sent as a reply to the message that they would have interrupted;
 * that message is not executed and is recorded as a draft.
 */
export function hintedTurns(
  settings: readonly HintSettings[],
  seed: number,
): (place: TurnPlace) => Promise<PlayedTurn | null> {
  const hints = settings.map(({ name, ...options }, i): Hint => {
    const part = parts.get(name, "hints");
    const opened = part.open(options, random(seed).derive("hint", i));
    return { name, opened, readsGold: part.readsGold?.(options) ?? false, fired: 0 };
  });
  return async (place) => {
    if (place.final) return playMessage(place);
    const begun = await beginning(place, hints);
    return takesPrefix(place.options.policy)
      ? playInterrupted(begun, hints)
      : playReplied(begun, hints);
  };
}

/** Whether hints reveal gold annotations or references. */
export function hintsReadGold(settings: readonly HintSettings[]): boolean {
  return settings.some(
    ({ name, ...options }) => parts.get(name, "hints").readsGold?.(options) ?? false,
  );
}

type RecordedHint = Omit<InsertedHint, "call">;
type BegunPlace = TurnPlace & { hints: readonly RecordedHint[] };

/** A turn with the prefills of its hints. */
async function beginning(place: TurnPlace, hints: readonly Hint[]): Promise<BegunPlace> {
  const recorded: RecordedHint[] = [];
  const withheld: string[] = [];
  const begun: Said[] = [];
  let { opening } = place;
  for (const { name, opened, readsGold } of hints) {
    const told = place.turn === 0 ? (opened.afterPrompt?.(place) ?? null) : null;
    if (told !== null) {
      const marks = { withheld: true, ...(readsGold ? { readsGold } : {}) } as const;
      recorded.push({ name, text: told, ...marks });
      withheld.push(told);
    }
    const text = (await opened.opening?.(place)) ?? null;
    if (text === null) continue;
    if (takesPrefix(place.options.policy)) {
      recorded.push({ name, text });
      begun.push({ owner: "inserted", text });
      opening += text;
    } else {
      const request = `\nBegin with: ${text}`;
      recorded.push({ name, text: request, withheld: true });
      withheld.push(request);
    }
  }
  const said = place.said.map((each, i) =>
    i === 0 && withheld.length > 0 ? { ...each, withheld } : each,
  );
  return { ...place, said: [...said, ...begun], opening, hints: recorded };
}

/** A message with hints inserted while it is written. */
async function playInterrupted(
  place: BegunPlace,
  hints: readonly Hint[],
): Promise<PlayedTurn | null> {
  const here: Hint[] = [];
  const interject: Interject = (message, put) => {
    const last = put.at(-1);
    const from = last === undefined ? place.opening.length : last.at + last.text.length;
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

/** A message answered by hints until none is left. If the context has no room for a hint, the message stays. */
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
      // A refused request must not stay in the continued dialogue.
      const dialogue = place.dialogue.fork({ id: options.id, seed: options.seed });
      const said: Said[] = [{ owner: "inserted", text: hint.text }];
      place = { ...begun, dialogue, said, opening: "", hints: [hint] };
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

/** The hint with the earliest place in a message; a tie goes to the first in settings. */
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
