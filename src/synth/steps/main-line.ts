import type { Action, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";

type TextOf = (segment: Segment) => string;

/** The turns that led to the answer: no drafts, and no other chains. */
export function mainTurns({ turns }: Pick<Trajectory, "turns">): Turn[] {
  return turns.filter(({ chain }) => chain === undefined);
}

/** The tool calls of a message. */
export function callsOf({ actions }: Pick<Turn, "actions">): Action[] {
  return actions.filter(({ tool }) => tool !== "answer");
}

/** The policy's own text in a turn's message, without inserted text and EOS. */
export function policyText(trajectory: Trajectory, turn: Turn, textOf: TextOf): string {
  const { completion = [] } = trajectory.calls[turn.call] ?? {};
  const written = writtenText(trajectory, turn, textOf);
  const at = written.indexOf(turn.text);
  const behind = at < 0 ? 0 : written.length - at - turn.text.length;
  return completion
    .map((segment, i) => {
      if (segment.owner !== "policy") return "";
      const text = textOf(segment);
      return i === completion.length - 1 ? text.slice(0, text.length - behind) : text;
    })
    .filter((text) => text !== "")
    .join("\n");
}

/** The text of a message's segments, with inserted text and prefill. */
export function writtenText({ calls }: Trajectory, { call }: Turn, textOf: TextOf): string {
  const { prompt = [], completion = [] } = calls[call] ?? {};
  const openings = prompt.filter(({ owner }) => owner === "inserted");
  return [...openings, ...completion].map(textOf).join("");
}

/** The observations that the policy read after each turn of the main line, cut as in the next prompt; in full if that was rebuilt. */
export function shownAfter(trajectory: Trajectory, textOf: TextOf): string[] {
  const turns = mainTurns(trajectory);
  return turns.map(({ call, observations }, i) => {
    const next = trajectory.calls[turns[i + 1]?.call ?? -1];
    const shown =
      next?.parent === call ? next.prompt.filter(({ owner }) => owner === "environment") : [];
    return (shown.length > 0 ? shown.map(textOf) : observations.map(({ text }) => text)).join("\n");
  });
}

/** The passages that a strategy showed before the first message. */
export function shownBefore({ given = [] }: Pick<Trajectory, "given">): string {
  return given.map(({ text }) => text).join("\n");
}
