import { z } from "../../base/schema.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";

/**
 * What the teacher writes into blocks of the grammar, by tag. facts: what the passages that were read last state. numbers: the numbers of these passages in the
 * question's own context. thought: its thought, in place of the grammar's tags for thoughts.
 */
export const blocksSchema = z.record(z.string(), z.enum(["facts", "numbers", "thought"]));

export type Blocks = z.output<typeof blocksSchema>;

/** A fact block after a search that found nothing new. */
const NOTHING = "unknown";

/** The steps as one line: "the birthplace of Fala Torlund is Wenzola the mayor of Wenzola is Vavin". */
export function factsOf(steps: readonly Pick<SolutionStep, "question" | "answer">[]): string {
  return steps.map(({ question, answer }) => `the ${question} is ${answer}`).join(" ");
}

/** A message with its blocks. @param read steps that the passages read last answer; null: nothing was read yet, only thoughts. */
export function withBlocks(
  message: PlannedMessage,
  blocks: Blocks,
  { task, read }: { task: Task; read: readonly SolutionStep[] | null },
): PlannedMessage {
  const { context = [] } = task.annotations;
  const numbers = (): string => {
    const places = (read ?? []).map(({ passage }) => context.findIndex(({ id }) => id === passage));
    const known = [...new Set(places.filter((at) => at >= 0))].sort((a, b) => a - b);
    return `[${known.map((at) => at + 1).join(", ")}]`;
  };
  const texts = Object.entries(blocks).flatMap(([tag, content]) => {
    if (content === "thought") return [[tag, message.thought]];
    if (read === null) return [];
    return [[tag, content === "numbers" ? numbers() : factsOf(read) || NOTHING]];
  });
  const moved = Object.values(blocks).includes("thought");
  return {
    ...message,
    ...(moved ? { thought: "" } : {}),
    blocks: Object.fromEntries(texts) as Record<string, string>,
  };
}
