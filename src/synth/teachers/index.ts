import { partSchema } from "../../base/part-schema.ts";
import { type Registry, registry } from "../../base/registry.ts";
import { choice, z } from "../../base/schema.ts";
import { isModel } from "../../base/setting-path.ts";
import type { Teacher } from "../../env/teacher.ts";
import { chatSchema } from "../../rollout/chat-settings.ts";
import { endpointSchema } from "../../rollout/endpoint/endpoint-settings.ts";
import { worlds } from "../../worlds/index.ts";
import { goldChain } from "./gold-chain.ts";
import { player } from "./player.ts";
import { reference } from "./reference.ts";

/** All teachers without a model: those for any dataset, and those of the worlds. */
export const teachers: Registry<Teacher> = registry("teacher", [
  goldChain,
  player,
  reference,
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

/** A model that is asked. */
export type AskedTeacher = z.output<typeof askedSchema>;

/** The writer of a synthesis's trajectories: a teacher of the registry, a model or a server. */
export type TeacherSettings = AskedTeacher | { name: string; [option: string]: unknown };

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
