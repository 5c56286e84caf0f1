import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";

/**
 * What the teacher writes into blocks of the grammar, by tag. facts: what the passages that were read last state. memory: all facts so far,
 * as far as it remembers them. numbers: the numbers of these passages in the
 * question's own context. thought: its thought, in place of the grammar's tags for thoughts.
 */
export const blocksSchema = z.record(z.string(), z.enum(["facts", "memory", "numbers", "thought"]));

export type Blocks = z.output<typeof blocksSchema>;

/** A fact block after a search that found nothing new. */
const NOTHING = "unknown";

/** The steps as one line: "the birthplace of Fala Torlund is Wenzola the mayor of Wenzola is Vavin". */
export function factsOf(steps: readonly Pick<SolutionStep, "question" | "answer">[]): string {
  return steps.map(({ question, answer }) => `the ${question} is ${answer}`).join(" ");
}

interface BlockPlace {
  task: Task;
  /** Steps that the passages read last answer; null: nothing was read yet, only thoughts. */
  read: readonly SolutionStep[] | null;
  remembered: readonly SolutionStep[];
  /** Share of messages that cite other passages than those read. */
  miscite: number;
  draw: Random;
}

/** A message with its blocks. */
export function withBlocks(
  message: PlannedMessage,
  blocks: Blocks,
  { task, read, remembered, miscite, draw }: BlockPlace,
): PlannedMessage {
  const { context = [] } = task.annotations;
  const numbers = (): string => {
    const places = (read ?? []).map(({ passage }) => context.findIndex(({ id }) => id === passage));
    const known = [...new Set(places.filter((at) => at >= 0))];
    const cited = draw.next() < miscite ? miscited(known, context.length, draw) : known;
    const ordered = cited.toSorted((a, b) => a - b).map((at) => at + 1);
    return `[${ordered.join(", ")}]`;
  };
  const texts = Object.entries(blocks).flatMap(([tag, content]) => {
    if (content === "thought") return [[tag, message.thought]];
    if (read === null) return [];
    const facts = content === "memory" ? remembered : read;
    return [[tag, content === "numbers" ? numbers() : factsOf(facts) || NOTHING]];
  });
  const moved = Object.values(blocks).includes("thought");
  return {
    ...message,
    ...(moved ? { thought: "" } : {}),
    blocks: Object.fromEntries(texts) as Record<string, string>,
  };
}

/** One passage less, one more, or another in the place of one, as far as the context of `count` passages allows. */
function miscited(known: readonly number[], count: number, draw: Random): number[] {
  const others = Array.from({ length: count }, (_, at) => at).filter((at) => !known.includes(at));
  const fewer = known.toSpliced(draw.int(Math.max(1, known.length)), 1);
  if (others.length === 0) return fewer;
  const other = draw.pick(others);
  const wrong = [
    [...known, other],
    [...fewer, other],
  ];
  return draw.pick(known.length > 1 ? [...wrong, fewer] : wrong);
}
