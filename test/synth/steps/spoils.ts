import type { Protocol } from "../../../src/env/protocols/protocol.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory, Turn } from "../../../src/trajectory/trajectory.ts";
import { type CleanSample, type CleanWorld, respoken } from "./clean-samples.ts";

/** A sample made bad; null where it cannot be in this way. */
export type Spoil = (sample: CleanSample, world: CleanWorld) => Trajectory | null;

/** Says one message otherwise: the first, or the last. */
export function said(
  which: "first" | "last",
  change: (text: string, place: { sample: CleanSample; protocol: Protocol }) => string | null,
): Spoil {
  return (sample, world) => {
    const { trajectory } = sample.candidate;
    const turn = which === "first" ? 0 : trajectory.turns.length - 1;
    const { protocol } = world.environment;
    const text = change(trajectory.turns[turn]?.text ?? "", { sample, protocol });
    return text === null ? null : respoken(trajectory, turn, text, world);
  };
}

/** Changes the record of the first turn, and not its tokens. */
export function recorded(change: (turn: Turn) => Partial<Turn>): Spoil {
  return ({ candidate: { trajectory } }) => ({
    ...trajectory,
    turns: trajectory.turns.map((turn, i) => (i === 0 ? { ...turn, ...change(turn) } : turn)),
  });
}

/** Changes the trajectory's own fields. */
export function marked(change: (trajectory: Trajectory) => Partial<Trajectory>): Spoil {
  return ({ candidate: { trajectory } }) => ({ ...trajectory, ...change(trajectory) });
}

/** Tells nothing unless the answer is a name that the question does not give. */
export function ifSecret(spoil: Spoil): Spoil {
  return (sample, world) =>
    sample.task.annotations.type === "bridge" ? spoil(sample, world) : null;
}

export function hinted(text: (answer: string) => string, part: "prompt" | "completion"): Spoil {
  return ifSecret(({ task, candidate: { trajectory } }, { tokenizer }) => {
    const hint = text(task.references[0] ?? "");
    const segment = { owner: "inserted" as const, ids: tokenizer.encode(hint), logprobs: null };
    const [first, ...calls] = trajectory.calls;
    if (first === undefined) return null;
    const call = { ...first, [part]: [...first[part], segment] };
    const hints = [{ name: "planted", call: 0, text: hint }];
    return { ...trajectory, calls: [call, ...calls], hints };
  });
}

export const withoutLast: Spoil = marked(({ calls, turns }) => ({
  calls: calls.slice(0, -1),
  turns: turns.slice(0, -1),
}));

/** Replaces the action of a message, and leaves its thought. */
export function reacted(text: string, action: string): string {
  return text.replace(/<(search|answer|tool_call)>.*$/s, () => action);
}

export const thoughtOf = (text: string): string => /^<think>.*?<\/think>/s.exec(text)?.[0] ?? "";

export function looped(text: string, times: number): Spoil {
  return said("last", (message) => message.replace("<think>", `<think> ${text.repeat(times)}`));
}

/** The first message searches for something that only who knows the answer can ask. */
export function asking(query: (task: Task) => string): Spoil {
  return ifSecret(
    said("first", (text, { sample: { task } }) => {
      return reacted(text, `<search>${query(task)}</search>`);
    }),
  );
}

/** The first message searches for nothing, and is told so. */
export function emptied(action: string): Spoil {
  return (sample, world) => {
    const { trajectory } = sample.candidate;
    const problem = { code: "empty-query", message: "the query is empty" };
    const text = reacted(trajectory.turns[0]?.text ?? "", action);
    const spoken = respoken(trajectory, 0, text, world);
    const turns = spoken.turns.map((turn, i) =>
      i === 0
        ? { ...turn, observations: [{ tool: "search", text: "The query was empty.", problem }] }
        : turn,
    );
    return { ...spoken, turns };
  };
}

/** The last message's thought says what the first search found. */
export function copied(change: (words: string[]) => string[]): Spoil {
  return said("last", (text, { sample }) => {
    const [turn] = sample.candidate.trajectory.turns;
    const words = (turn?.observations[0]?.text ?? "").split(/\s+/);
    return text.replace("<think>", () => `<think> ${change(words).join(" ")}`);
  });
}
