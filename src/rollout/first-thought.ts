import type { Trajectory } from "../trajectory/trajectory.ts";
import { promptSession } from "./prompt-session.ts";
import type { RolloutOptions } from "./record.ts";

/** The start of a chain of thought, up to its first empty line, from a separate dialogue; null if the question does not fit the context. */
export async function firstThought(
  rollout: RolloutOptions,
  trajectory: Trajectory,
): Promise<string | null> {
  const prompt = [
    "Solve the question step by step. Leave an empty line after each step.",
    `Question: ${rollout.task.question}`,
    "Steps:",
  ].join("\n");
  const session = promptSession(rollout, trajectory);
  const message = await session.ask(prompt, { chain: "first-thought" });
  return message === null ? null : (message.text.trim().split(/\n\s*\n/)[0] ?? "");
}
