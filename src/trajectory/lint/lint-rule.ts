import type { Part } from "../../base/registry.ts";
import type { Call, Trajectory, Turn } from "../trajectory.ts";
import type { TrajectoryLintReading } from "./lint-reading.ts";

/** A rule for every trajectory; its name is the code of its violations. */
export interface LintRule extends Part {
  /** The violations, one sentence each; null where the rule cannot decide, because the reading lacks something. */
  find(trajectory: Trajectory, reading: TrajectoryLintReading): readonly string[] | null;
}

/** Turns of the main line: without drafts, candidates, chains and modules. */
export function mainLine({ turns }: Pick<Trajectory, "turns">): Turn[] {
  return turns.filter(({ chain }) => chain === undefined);
}

/** The prefill of a message; null where it cannot be read. */
export function openingText(call: Call, reading: TrajectoryLintReading): string | null {
  const before = call.prompt.findLastIndex(({ owner }) => owner !== "inserted");
  return joined(call.prompt.slice(before + 1), reading);
}

/** A message with inserted text, without its EOS; null where it cannot be read. */
export function writtenText({ completion }: Call, reading: TrajectoryLintReading): string | null {
  const last = completion.at(-1);
  if (last?.owner !== "policy" || !isEnd(last.ids.at(-1), reading))
    return joined(completion, reading);
  return joined([...completion.slice(0, -1), { ...last, ids: last.ids.slice(0, -1) }], reading);
}

/** Joined texts of segments; null where one cannot be read. */
export function joined(
  segments: Call["prompt"],
  { textOf }: Pick<TrajectoryLintReading, "textOf">,
): string | null {
  const texts = segments.map(textOf);
  return texts.includes(null) ? null : texts.join("");
}

/** Whether a token ends a message. */
export function isEnd(id: number | undefined, { endIds }: TrajectoryLintReading): boolean {
  return id !== undefined && endIds?.includes(id) === true;
}

/** Text for an error message, in quotes, cut if long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 59)}…`);
}
