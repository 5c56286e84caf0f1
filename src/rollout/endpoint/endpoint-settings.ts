import { z } from "../../base/schema.ts";
import { measuredModelShape } from "../../http/chat-settings.ts";

/** Options of a policy behind an HTTP server. */
export const endpointSchema = z.strictObject({
  ...measuredModelShape,
  /** chat: messages, with the server's own template. completions: one growing text, without a template. */
  api: z.enum(["chat", "completions"]).default("chat"),
  /** Most tokens of a reply, hidden thoughts included; default: the budget of a turn. */
  maxTokens: z.int().min(1).optional(),
  /** System message of a chat. */
  system: z.string().optional(),
  /** Further keys of each request's body. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

/** Checked settings of a policy's server. */
export type EndpointSettings = z.output<typeof endpointSchema>;
