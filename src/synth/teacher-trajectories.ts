import { random, seedFrom } from "../base/random.ts";
import { choice, quote, z } from "../base/schema.ts";
import type { Environment } from "../env/environments/environment.ts";
import { textAfter } from "../env/protocols/protocol.ts";
import type { LessonQuestion, Lessons } from "../env/world.ts";
import { buildBm25 } from "../retrieval/bm25/bm25.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { type CompletionRequest, scriptedPolicy } from "../rollout/policy.ts";
import { GREEDY } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { worlds } from "../worlds/index.ts";
import type { Behaviour } from "./teachers/behaviour.ts";
import { briefForcedAnswer, briefPlan } from "./teachers/brief-plan.ts";
import { writeWithSlips } from "./teachers/malformed.ts";

/** Shares of trajectories that answer without a search, or after one search with the question; the rest search in several steps. */
const kindsShape = {
  direct: z.number().min(0).max(1).default(0.03),
  rag: z.number().min(0).max(1).default(0.07),
};

/** Source of a teacher's questions: a stream of worlds with different facts, so that a policy cannot memorise them. */
export interface WorldStream {
  of?: string;
  questionsPerWorld: number;
  direct: number;
  rag: number;
  [option: string]: unknown;
}

export const worldStreamSchema: z.ZodType<WorldStream> = choice<WorldStream>(
  (value) => {
    const of = typeof value === "object" && value !== null && "of" in value ? value.of : undefined;
    const found = taughtBy(of);
    if (found !== undefined) return { schema: streamSchema(found), value };
    const names = taught().map(({ name }) => name);
    const message = `"of" is ${quote(of)}: expected a world that has lessons: ${names.join(", ")}.`;
    return { problem: { code: "PART_UNKNOWN", message } };
  },
  () => taught().map(streamSchema),
);

function taught(): (Lessons & { name: string })[] {
  return worlds.parts.flatMap(({ name, lessons }) =>
    lessons === undefined ? [] : [{ name, ...lessons }],
  );
}

function taughtBy(of: unknown): Lessons | undefined {
  return taught().find(({ name }) => of === undefined || name === of);
}

function streamSchema({ options }: Lessons): z.ZodType<WorldStream> {
  const demands = (options.def.checks ?? []) as z.core.$ZodCheck<object>[];
  return z
    .strictObject({ of: z.string().optional(), ...options.shape, ...kindsShape })
    .check(...demands) as unknown as z.ZodType<WorldStream>;
}

export interface TeacherOptions {
  worlds: WorldStream;
  tokenizer: Tokenizer;
  environmentOver: (retriever: Retriever) => Environment;
  seed: number;
  signal: AbortSignal;
}

/** Trajectories `from`, `from` + 1, … of a gold-chain teacher in the real environment, equal by number and seed, all with answers. */
export async function* teacherTrajectories(
  options: TeacherOptions,
  behaviour: Behaviour,
  from: number,
): AsyncGenerator<Trajectory> {
  const { seed } = options;
  const { of, direct: _, rag: __, ...stream } = options.worlds;
  const lessons = taughtBy(of);
  let current = -1;
  let questions: LessonQuestion[] = [];
  let environment: Environment | null = null;
  for (let number = from; ; number++) {
    const index = Math.floor(number / stream.questionsPerWorld);
    if (index !== current || environment === null) {
      current = index;
      if (lessons === undefined) throw new TypeError("The schema requires a world with lessons.");
      const made = lessons.open(stream, seed, index);
      questions = made.questions;
      environment = options.environmentOver(buildBm25(made.passages));
    }
    const asked = questions[number % stream.questionsPerWorld];
    if (asked === undefined) continue;
    const trajectory = await play(options, environment, behaviour, asked, number);
    if (trajectory.answer !== null) yield trajectory;
  }
}

async function play(
  { worlds, tokenizer, seed, signal }: TeacherOptions,
  environment: Environment,
  behaviour: Behaviour,
  { task, remembered }: LessonQuestion,
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
  const strategy = await strategies.load(name, "teacher");
  return strategy.run({
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
