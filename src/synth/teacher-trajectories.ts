import { random, seedFrom } from "../base/random.ts";
import { z } from "../base/schema.ts";
import { knownWorld, rememberedSteps } from "../data/tinyworld/known-world.ts";
import { tinyQuestionShape, tinyWorld, tinyWorldSchema } from "../data/tinyworld/tiny-world.ts";
import type { Environment } from "../env/environments/environment.ts";
import { buildBm25 } from "../retrieval/bm25/bm25.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { type CompletionRequest, scriptedPolicy } from "../rollout/policy.ts";
import { GREEDY } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Passage, Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { briefForcedAnswer, briefPlan } from "./teachers/brief-plan.ts";
import { writeWithSlips } from "./teachers/malformed.ts";
import { textAfter } from "./teachers/planned-text.ts";
import type { Behaviour } from "./teachers/teacher-settings.ts";

const share = z.number().min(0).max(1).default(0);

/** A kind of world: all settings of the dataset `tinyworld` that do not say which world it is. */
const variantSchema = tinyWorldSchema.omit({ seed: true, split: true, people: true }).extend({
  ...tinyQuestionShape,
  /** Share of the questions about the world known by heart, whose passages are added. */
  known: share,
  /** Share of its entities whose facts the teacher misremembers. */
  misremembered: share,
});

type Variant = z.output<typeof variantSchema>;

/** Source of a teacher's questions: a stream of tiny worlds with different facts, so that a policy cannot memorise them. */
export const worldStreamSchema = z
  .strictObject({
    /** Worlds of different splits share no entity. */
    split: z.enum(["train", "dev", "test", "base"]).default("base"),
    people: z.int().min(10).default(300),
    /** Questions per world. */
    questionsPerWorld: z.int().min(1).default(128),
    /** World number i has the i-th of these, from the first again after the last. */
    variants: z.array(variantSchema).min(1).prefault([{}]),
    /** Shares of trajectories that answer without a search, or after one search with the question; the rest search in several steps. */
    direct: z.number().min(0).max(1).default(0.03),
    rag: z.number().min(0).max(1).default(0.07),
  })
  .refine(
    ({ split, variants }) => split !== "base" || variants.every(({ known }) => known === 0),
    'expected another split than "base" where variants have known questions: the world known by heart is of split "base"',
  );

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
  let questions: Asked[] = [];
  let environment: Environment | null = null;
  for (let number = from; ; number++) {
    const index = Math.floor(number / worlds.questionsPerWorld);
    if (index !== current || environment === null) {
      current = index;
      const { split, people, variants } = worlds;
      const variant = variants[index % variants.length] ?? variantSchema.parse({});
      const place = { split, people, seed: seedFrom("teacher", seed, index) };
      const made = worldOf(variant, place, worlds.questionsPerWorld);
      questions = made.questions;
      environment = options.environmentOver(buildBm25(made.passages));
    }
    const asked = questions[number % worlds.questionsPerWorld];
    if (asked === undefined) continue;
    const trajectory = await play(options, environment, behaviour, asked, number);
    if (trajectory.answer !== null) yield trajectory;
  }
}

/** A question, with what the teacher remembers of it. */
interface Asked {
  task: Task;
  remembered: string[] | null;
}

/** A world's passages and questions, with those of the world known by heart. */
function worldOf(
  { mix, unanswerable, relations, exclude, known: share, misremembered, ...shape }: Variant,
  place: { split: WorldStream["split"]; people: number; seed: number },
  count: number,
): { passages: Passage[]; questions: Asked[] } {
  const world = tinyWorld({ ...shape, ...place });
  const known = share === 0 ? null : knownWorld(shape);
  const draw = random(place.seed).derive("known");
  const questions = Array.from({ length: count }, (_, number): Asked => {
    if (known === null || draw.next() >= share) {
      const task = world.question(number, { mix, unanswerable, relations, exclude });
      return { task, remembered: null };
    }
    // Each world of the stream asks other questions of it.
    const task = known.question((place.seed % MOST_KNOWN) + number, { mix, relations, exclude });
    return { task, remembered: rememberedSteps(task, misremembered) };
  });
  return { passages: [...world.passages(), ...(known?.passages() ?? [])], questions };
}

/** Numbers of questions of the known world. */
const MOST_KNOWN = 1_000_000;

async function play(
  { worlds, tokenizer, seed, signal }: TeacherOptions,
  environment: Environment,
  behaviour: Behaviour,
  { task, remembered }: Asked,
  number: number,
): Promise<Trajectory> {
  const kind = random(seed).derive("teacher", number).next();
  const name =
    kind < worlds.direct ? "direct" : kind < worlds.direct + worlds.rag ? "rag" : "agent";
  const { protocol, toolSchemas: tools } = environment;
  const write = ({ turns, promptIds }: CompletionRequest): string =>
    name === "agent"
      ? writeWithSlips(
          briefPlan({ task, turns, remembered }, behaviour, seedFrom(seed, number)),
          behaviour.malformed,
          { protocol, tools },
          random(seed).derive("slip", number, turns.length),
        )
      : textAfter(protocol.answerOpening, briefForcedAnswer(task, tokenizer.decode(promptIds)), {
          protocol,
          tools,
        });
  return strategies
    .get(name, "teacher")
    .run({
      policy: scriptedPolicy(tokenizer, write),
      environment,
      task,
      signal,
      id: `teacher-${number}`,
      groupId: task.id,
      purpose: "train",
      seed,
      sampling: GREEDY,
    });
}
