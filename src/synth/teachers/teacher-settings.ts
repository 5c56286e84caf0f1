import { z } from "../../base/schema.ts";
import { isModel } from "../../base/setting-path.ts";
import { chatSchema } from "../../rollout/chat-rendering.ts";
import { endpointSchema } from "../../rollout/endpoint/endpoint-settings.ts";
import { blocksSchema } from "./blocks.ts";
import { knightsBehaviourSchema } from "./knights-plan.ts";
import { malformedSchema } from "./malformed.ts";
import { numberBehaviourSchema } from "./number-plan.ts";

/**
 * A gold-chain teacher's probabilities of the good choice. All 1 is an oracle; lower values give a mixture of good and bad trajectories,
 * from which reinforcement can then select.
 */
export const behaviourSchema = z.strictObject({
  /** To search instead of guessing from the question. */
  search: z.number().min(0).max(1).default(1),
  /** To continue after a hop that is not the last, instead of answering with the passage just read. */
  continue: z.number().min(0).max(1).default(1),
  /** To name the subject in a query, instead of only the relation. */
  fullQuery: z.number().min(0).max(1).default(1),
  /** With style brief: to search for a word that a passage may state the fact with, instead of the fact's label. */
  reword: z.number().min(0).max(1).default(0),
  /** With style brief: to search again where a search did not find the fact, instead of answering. */
  retry: z.number().min(0).max(1).default(1),
  /** With style brief, habits: to send the last query again; */
  repeat: z.number().min(0).max(1).default(0),
  /** to search once more when everything is known; */
  overSearch: z.number().min(0).max(1).default(0),
  /** to answer a question of the world known by heart without a search. */
  recall: z.number().min(0).max(1).default(1),
  /** With style brief: shares of messages whose tags are broken. */
  malformed: malformedSchema.prefault({}),
});

export type Behaviour = z.output<typeof behaviourSchema>;

/** A teacher without a model that follows a dataset's gold annotations. */
const goldChainSchema = z.strictObject({
  name: z.literal("gold-chain"),
  behaviour: behaviourSchema.prefault({}),
  /**
   * Wording of its messages. telling: a thought for each step, for any dataset. brief: the three thoughts that the base policy knows, for
   * decompositions into whole questions (the tiny world's).
   */
  style: z.enum(["telling", "brief"]).default("telling"),
  /** With style brief: what it writes into which blocks of the grammar; none when absent. */
  blocks: blocksSchema.optional(),
  /** Most searches of a trajectory; default: twice the passages that its question needs, plus two. */
  searches: z.int().min(1).optional(),
});

/** The writer of a synthesis's trajectories. */
export const teacherSchema = z.discriminatedUnion("name", [
  goldChainSchema,
  /** A calculating teacher without a model, for the number world. */
  z.strictObject({ name: z.literal("number-plan"), behaviour: numberBehaviourSchema.prefault({}) }),
  /** A deducing teacher without a model, for knights and knaves. */
  z.strictObject({
    name: z.literal("knights-plan"),
    behaviour: knightsBehaviourSchema.prefault({}),
  }),
  /** The environment's own player, which has no skill: for pre-training of a fresh policy. */
  z.strictObject({ name: z.literal("player") }),
  /** Answers with the first reference at once: for questions that are whole prompts, such as a role's exercises. */
  z.strictObject({ name: z.literal("reference") }),
  z.strictObject({
    name: z.literal("model"),
    /** As `policy.from`; default: the recipe's own policy. */
    from: z.string().meta(isModel()).optional(),
    chat: chatSchema.optional(),
  }),
  z.strictObject({ name: z.literal("endpoint"), ...endpointSchema.shape }),
]);

export type TeacherSettings = z.output<typeof teacherSchema>;
export type GoldChainSettings = z.output<typeof goldChainSchema>;
