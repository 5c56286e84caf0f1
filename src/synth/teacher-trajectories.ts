import { random, seedFrom } from "../base/random.ts";
import { z } from "../base/schema.ts";
import { mixSchema, tinyWorld, tinyWorldSchema } from "../data/tinyworld/tiny-world.ts";
import type { Environment } from "../env/environments/environment.ts";
import { buildBm25 } from "../retrieval/bm25/bm25.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { type CompletionRequest, scriptedPolicy } from "../rollout/policy.ts";
import { GREEDY } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { briefForcedAnswer, briefPlan } from "./teachers/brief-plan.ts";
import { textAfter } from "./teachers/planned-text.ts";
import type { Behaviour } from "./teachers/teacher-settings.ts";

/** Source of a teacher's questions: a stream of tiny worlds with different facts, so that a policy cannot memorise them. */
export const worldStreamSchema = z.strictObject({
  /** Worlds of different splits share no entity. */
  split: z.enum(["train", "dev", "test", "base"]).default("base"),
  people: z.int().min(10).default(300),
  /** Questions per world. */
  questionsPerWorld: z.int().min(1).default(128),
  /** World number i has the i-th of these, from the first again after the last. */
  variants: z
    .array(
      tinyWorldSchema.pick({ passages: true, wordings: true }).extend({
        mix: mixSchema.prefault({}),
      }),
    )
    .min(1)
    .prefault([{}]),
  /** Shares of trajectories that answer without a search, or after one search with the question; the rest search in several steps. */
  direct: z.number().min(0).max(1).default(0.03),
  rag: z.number().min(0).max(1).default(0.07),
});

export type WorldStream = z.output<typeof worldStreamSchema>;

export interface TeacherOptions {
  worlds: WorldStream;
  tokenizer: Tokenizer;
  /** Creates the environment over a world's passages. */
  environmentOver: (retriever: Retriever) => Environment;
  seed: number;
  signal: AbortSignal;
}

/**
 * Trajectories number `from`, `from` + 1, … of a gold-chain teacher in the real environment: every search is run. The same numbers and seed
 * give the same trajectories. Trajectories without an answer are dropped and drawn again.
 */
export async function* teacherTrajectories(
  options: TeacherOptions,
  behaviour: Behaviour,
  from: number,
): AsyncGenerator<Trajectory> {
  const { worlds, seed } = options;
  let current = -1;
  let questions: Task[] = [];
  let environment: Environment | null = null;
  for (let number = from; ; number++) {
    const index = Math.floor(number / worlds.questionsPerWorld);
    if (index !== current || environment === null) {
      current = index;
      const { split, people, variants } = worlds;
      const { mix, ...shape } = variants[index % variants.length] ?? { mix: {} };
      const world = tinyWorld({ split, people, ...shape, seed: seedFrom("teacher", seed, index) });
      questions = [...world.questions(worlds.questionsPerWorld, { mix })];
      environment = options.environmentOver(buildBm25(world.passages()));
    }
    const task = questions[number % worlds.questionsPerWorld];
    if (task === undefined) continue;
    const trajectory = await play(options, environment, behaviour, task, number);
    if (trajectory.answer !== null) yield trajectory;
  }
}

async function play(
  { worlds, tokenizer, seed, signal }: TeacherOptions,
  environment: Environment,
  behaviour: Behaviour,
  task: Task,
  number: number,
): Promise<Trajectory> {
  const kind = random(seed).derive("teacher", number).next();
  const name =
    kind < worlds.direct ? "direct" : kind < worlds.direct + worlds.rag ? "rag" : "agent";
  const { protocol, toolSchemas: tools } = environment;
  const write = ({ turns, promptIds }: CompletionRequest): string =>
    name === "agent"
      ? protocol.write(briefPlan({ task, turns }, behaviour, seedFrom(seed, number)), tools)
      : textAfter(protocol.answerOpening, briefForcedAnswer(task, tokenizer.decode(promptIds)), {
          protocol,
          tools,
        });
  return strategies.get(name, "teacher").run({
    ...{ policy: scriptedPolicy(tokenizer, write), environment, task, signal },
    ...{ id: `teacher-${number}`, groupId: task.id, purpose: "train", seed, sampling: GREEDY },
  });
}
