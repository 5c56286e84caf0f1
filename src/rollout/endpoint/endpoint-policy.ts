import { z } from "../../base/schema.ts";
import { chatClient, chatShape } from "../../http/chat.ts";
import type { HttpEnvironment } from "../../http/client.ts";
import { completionsClient } from "../../http/completions.ts";
import type { TextPolicy } from "../policy.ts";
import { chatDialogue } from "./chat-dialogue.ts";
import { textDialogue } from "./text-dialogue.ts";

/** Options of a policy that is asked over HTTP. */
export const endpointSchema = z.strictObject({
  ...chatShape,
  /** chat: messages, by the server's own template. completions: one text that grows, as it is. */
  api: z.enum(["chat", "completions"]).default("chat"),
  /** A first message of the system, in a chat. */
  system: z.string().optional(),
  /** Takes messages as they are written, which tells the time to the first token. */
  stream: z.boolean().default(false),
  /** Further keys of each request's body, as the server knows them. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

/** A server that stands for a policy, and how to ask it, checked. */
export type EndpointSettings = z.output<typeof endpointSchema>;

/**
 * A policy behind any OpenAI-compatible server. Its tokens are the server's own: what it is shown and writes is recorded as text.
 *
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function endpointPolicy(
  settings: EndpointSettings,
  environment?: HttpEnvironment,
): TextPolicy {
  if (settings.api === "completions") {
    const client = completionsClient("policy", settings, environment);
    return {
      ...{ role: "policy", takesPrefix: true },
      open: (setting) => textDialogue(client, settings, setting),
    };
  }
  const client = chatClient("policy", settings, environment);
  return {
    ...{ role: "policy", takesPrefix: false },
    open: (setting) => chatDialogue(client, settings, setting),
  };
}
