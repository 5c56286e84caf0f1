import { z } from "../../base/schema.ts";
import { chatSchema } from "../../rollout/chat-rendering.ts";
import { endpointSchema } from "../../rollout/endpoint/endpoint-settings.ts";

/**
 * How a gold-chain teacher decides, as probabilities of the good choice. All 1 is an oracle; less makes a mixture of behaviours
 * whose best members succeed: what a policy needs before reinforcement can select.
 */
export const behaviourSchema = z.strictObject({
  /** To search at all, rather than to guess from the question. */
  search: z.number().min(0).max(1).default(1),
  /** To go on after a hop that is not the last, rather than to answer with what was just read. */
  continue: z.number().min(0).max(1).default(1),
  /** To name what is searched for, rather than the relation alone. */
  fullQuery: z.number().min(0).max(1).default(1),
});

export type Behaviour = z.output<typeof behaviourSchema>;

/** A teacher that follows a dataset's gold, with no model. */
const goldChainSchema = z.strictObject({
  name: z.literal("gold-chain"),
  behaviour: behaviourSchema.prefault({}),
  /**
   * How it words what it does. telling: thoughts of its own on each step, for any dataset. brief: the three thoughts that the base
   * policy knows, over a decomposition into whole questions (the tiny world's).
   */
  style: z.enum(["telling", "brief"]).default("telling"),
  /** Searches of a trajectory at most; twice the passages that its question needs, and two, where absent. */
  searches: z.int().min(1).optional(),
});

/** Who writes the trajectories of a synthesis. */
export const teacherSchema = z.discriminatedUnion("name", [
  goldChainSchema,
  z.strictObject({
    name: z.literal("model"),
    /** As `policy.from`; the recipe's own policy where absent. */
    from: z.string().optional(),
    chat: chatSchema.optional(),
  }),
  z.strictObject({ name: z.literal("endpoint"), ...endpointSchema.shape }),
]);

export type TeacherSettings = z.output<typeof teacherSchema>;
export type GoldChainSettings = z.output<typeof goldChainSchema>;
