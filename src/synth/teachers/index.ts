import { partSchema } from "../../base/define-part.ts";
import { ConfigError, RolloutError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { type Registry, registry } from "../../base/registry.ts";
import { choice, z } from "../../base/schema.ts";
import { isModel } from "../../base/setting-path.ts";
import { textAfter } from "../../env/protocols/protocol.ts";
import { type Teacher, defineTeacher } from "../../env/teacher.ts";
import { chatSchema, endpointSchema } from "../../rollout/model-settings.ts";
import { worlds } from "../../worlds/index.ts";
import { goldChain } from "./gold-chain.ts";

/**
 * Answers with the first reference at once, which teaches nothing where a question does not tell its answer.
 * @throws TEACHER_GAVE_UP without a reference; TEACHER_CANNOT_PLAY (the run stops) for a strategy's own prompts.
 */
export const reference = defineTeacher({
  name: "reference",
  summary: "Answers with the first reference at once.",
  open: () => (place) => {
    if (place.ownPrompt) {
      const problem =
        "teacher reference: the strategy has its own prompts, which only a model can answer. Choose strategy: direct, or a teacher with a model.";
      throw new ConfigError("TEACHER_CANNOT_PLAY", problem);
    }
    const [input] = place.task.references;
    if (input === undefined) {
      const message = `teacher reference: the question ${place.task.id} has no reference.`;
      throw new RolloutError("TEACHER_GAVE_UP", message);
    }
    return textAfter(place.prefill, { thought: "", action: { tool: "answer", input } }, place);
  },
});

/**
 * Plays as an environment's own player does: well-formed messages without skill, a start for reinforcement.
 * @throws {ConfigError} TEACHER_CANNOT_PLAY where the environment has no player, or a strategy asks with prompts of its own.
 */
export const player = defineTeacher({
  name: "player",
  summary: "Plays at random, by the environment's own player.",
  open(_, { name, player, toolSchemas }) {
    if (player === undefined) throw cannotPlay(`the environment "${name}" has no player`);
    const tools = toolSchemas.map((tool) => tool.function.name);
    return (place) => {
      if (place.ownPrompt) throw cannotPlay("the strategy asks with prompts of its own");
      const turns = place.turns.filter(({ chain }) => chain === undefined);
      const draw = random(place.seed).derive("player", turns.length);
      return textAfter(place.prefill, player({ task: place.task, turns, tools }, draw), place);
    };
  },
});

function cannotPlay(why: string): ConfigError {
  const message = `teacher player: ${why}. Choose another teacher, or strategy: agent in an environment with a player, such as tool-qa.`;
  return new ConfigError("TEACHER_CANNOT_PLAY", message);
}

/**
 * Plays each question by the first of several teachers that does not give it up: for datasets joined from several worlds. Each message is
 * asked of all again, so teachers should tell by the question whether it is theirs.
 * @throws TEACHER_GAVE_UP where all give up.
 */
export const firstAble = defineTeacher({
  name: "first-able",
  summary: "Plays by the first of several teachers that can play the question.",
  options: z.strictObject({
    of: z.array(z.lazy((): z.ZodType<ScriptSettings> => scriptSchema)).min(2),
  }),
  open({ of }, environment) {
    const scripts = of.map(({ name, ...options }) =>
      teachers.get(name, "synth.teacher.of").open(options, environment),
    );
    return (place) => {
      for (const script of scripts) {
        const message = notGivenUp(() => script(place));
        if (message !== undefined) return message;
      }
      const names = of.map(({ name }) => name).join(", ");
      const problem = `teacher first-able: none of ${names} plays the question ${place.task.id}.`;
      throw new RolloutError("TEACHER_GAVE_UP", problem);
    };
  },
});

function notGivenUp(write: () => string): string | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof RolloutError && error.code === "TEACHER_GAVE_UP") return undefined;
    throw error;
  }
}

/** All teachers without a model: those for any dataset, and those of the worlds. */
export const teachers: Registry<Teacher> = registry("teacher", [
  goldChain,
  player,
  reference,
  firstAble,
  ...worlds.parts.flatMap((world) => world.teachers),
]);

const modelSchema = z.strictObject({
  name: z.literal("model"),
  /** As `policy.from`; default: the recipe's own policy. */
  from: z.string().meta(isModel()).optional(),
  chat: chatSchema.optional(),
});

const serverSchema = z.strictObject({ name: z.literal("endpoint"), ...endpointSchema.shape });

const askedSchema = z.discriminatedUnion("name", [modelSchema, serverSchema]);
const scriptSchema = partSchema(teachers);

type ScriptSettings = { name: string; [option: string]: unknown };

/** A model that is asked. */
export type AskedTeacher = z.output<typeof askedSchema>;

/** The writer of a synthesis's trajectories: a teacher of the registry, a model or a server. */
export type TeacherSettings = AskedTeacher | ScriptSettings;

/** Schema of `synth.teacher`. */
export const teacherSchema: z.ZodType<TeacherSettings> = choice<TeacherSettings>(
  (value) => {
    const name =
      typeof value === "object" && value !== null && "name" in value ? value.name : value;
    const schema = name === "model" || name === "endpoint" ? askedSchema : scriptSchema;
    return { schema, value };
  },
  () => [modelSchema, serverSchema, scriptSchema],
);

/** Whether a model writes the trajectories, here or on a server. */
export function isAsked(teacher: TeacherSettings): teacher is AskedTeacher {
  return teacher.name === "model" || teacher.name === "endpoint";
}
