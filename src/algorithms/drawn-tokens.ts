import type { Rendering } from "../rollout/chat-rendering.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Call, Segment, Trajectory } from "../trajectory/trajectory.ts";

/** A model that draws trajectories: its tokens, and its chat template, if it has one. */
export interface Drawer {
  tokenizer: Tokenizer;
  rendering?: Rendering | undefined;
}

/**
 * Whether the ids of a trajectory are a tokenizer's: what they decode to is what its turns say was written. Hashes of files would
 * not show it: one tokenizer can be saved in many ways.
 */
export function areTokensOf(tokenizer: Tokenizer, trajectory: Trajectory): boolean {
  const { calls, turns } = trajectory;
  const ids = calls.flatMap(({ prompt, completion }) => [...prompt, ...completion]);
  if (ids.some((segment) => segment.ids.some((id) => id >= tokenizer.vocabSize))) return false;
  const say = (segment: Segment): string => textOf(segment, tokenizer);
  return turns.every((turn) => {
    const call = calls[turn.call];
    if (call === undefined) return false;
    const written = call.completion.map(say).join("");
    // A strategy closes the tag that it opened, where the writer ended its message by a token instead.
    const unended = withoutLast(call.completion).map(say).join("");
    return openings(call, say).some(
      (opening) =>
        (opening + written).startsWith(turn.text) ||
        (unended !== "" && turn.text.startsWith(opening + unended)),
    );
  });
}

function withoutLast(segments: readonly Segment[]): Segment[] {
  return segments.map((each, i) =>
    i < segments.length - 1 ? each : { ...each, ids: each.ids.slice(0, -1) },
  );
}

/** Possible prefills of a message: the last parts of its prompt, any number of them, or none. */
export function openings({ prompt }: Call, say: (segment: Segment) => string): string[] {
  const texts = [""];
  for (const segment of prompt.toReversed()) {
    if (segment.owner !== "inserted") break;
    texts.unshift(say(segment) + (texts[0] ?? ""));
  }
  return texts;
}

/** What a segment says, without an end token behind it. */
export function textOf({ text, ids }: Segment, tokenizer: Tokenizer): string {
  if (ids.length === 0) return text ?? "";
  const ended = tokenizer.endIds.includes(ids.at(-1) ?? -1);
  return tokenizer.decode(ended ? ids.slice(0, -1) : ids);
}

/** A first prompt's text without the BOS token: the student's tokenizer adds its own. */
export function firstText(segments: readonly Segment[], tokenizer: Tokenizer): string {
  return segments
    .map((segment) => {
      const { ids } = segment;
      const isBegun = ids.length > 0 && ids[0] === tokenizer.beginId;
      return textOf(isBegun ? { ...segment, ids: ids.slice(1) } : segment, tokenizer);
    })
    .join("");
}

/** What a chat template writes before a prompt and behind it. */
export interface Marks {
  before: string;
  after: string;
}

function marksOf(rendering: Rendering): Marks {
  const mark = "\u2063prompt\u2063";
  const [before = "", after = ""] = rendering.opening(mark).split(mark);
  return { before, after };
}

/** The marks of a model's chat template, if every first prompt is within them. */
export function marksAround({ calls }: Trajectory, { tokenizer, rendering }: Drawer): Marks | null {
  if (rendering === undefined) return null;
  const { before, after } = marksOf(rendering);
  const ids = tokenizer.encodeStart(before);
  const marks = {
    before: firstText([{ owner: "template", ids, logprobs: null }], tokenizer),
    after,
  };
  const isWithin = calls.every(({ parent, prompt }) => {
    if (parent !== null) return true;
    const shown = prompt.filter(({ owner }) => owner !== "inserted");
    const text = firstText(shown, tokenizer);
    return text.startsWith(marks.before) && text.endsWith(after);
  });
  return isWithin && after !== "" ? marks : null;
}

/** Whether a trajectory's first prompt begins as the student's chat template begins one. */
export function isRendered(
  { calls }: Trajectory,
  tokenizer: Tokenizer,
  rendering: Rendering,
): boolean {
  const { before } = marksOf(rendering);
  const first = calls.find(({ parent }) => parent === null)?.prompt ?? [];
  const ids = first.flatMap((segment) => segment.ids);
  // As text: the last sign of the template may be one token with what follows it.
  return tokenizer.decode(ids).startsWith(tokenizer.decode(tokenizer.encodeStart(before)));
}

/** Whether a trajectory holds a chat template's markup: an end token in a prompt, or text around replies. */
export function throughChat({ calls }: Trajectory, { endIds }: Tokenizer): boolean {
  return calls.some(({ parent, prompt }) =>
    prompt.some(
      ({ owner, ids }) =>
        (owner === "template" && ids.some((id) => endIds.includes(id))) ||
        (parent !== null && owner === "template" && ids.length > 0),
    ),
  );
}
