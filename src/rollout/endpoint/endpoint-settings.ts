import { z } from "../../base/schema.ts";
import { measuredModelShape } from "../../http/chat-settings.ts";

/** Options of a policy that is asked over HTTP. */
export const endpointSchema = z.strictObject({
  ...measuredModelShape,
  /** chat: messages, by the server's own template. completions: one text that grows, as it is. */
  api: z.enum(["chat", "completions"]).default("chat"),
  /** A first message of the system, in a chat. */
  system: z.string().optional(),
  /** Further keys of each request's body, as the server knows them. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

/** A server that stands for a policy, and how to ask it, checked. */
export type EndpointSettings = z.output<typeof endpointSchema>;
