import { z } from "../base/schema.ts";

/** Role of a reply of the environment: its own message, or part of the model's (as in Search-R1). */
export const replyPlaces = ["user", "tool", "inline"] as const;

/** Options of a policy with a chat template. */
export const chatSchema = z.strictObject({
  /** Role of a reply of the environment; `inline`: part of the model's own message. */
  replies: z.enum(replyPlaces).default("user"),
  /** System message; default: none, except the template's own. */
  system: z.string().optional(),
});

export type ChatOptions = z.output<typeof chatSchema>;
