import { z } from "../../base/schema.ts";
import { chatClient, measuredModelShape } from "../../http/chat.ts";
import type { HttpEnvironment } from "../../http/client.ts";
import { completionsClient } from "../../http/completions.ts";
import type { Meter } from "../../http/meter.ts";
import type { TextPolicy } from "../policy.ts";
import { chatDialogue } from "./chat-dialogue.ts";
import { textDialogue } from "./text-dialogue.ts";

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

/**
 * A policy behind any OpenAI-compatible server. Its tokens are the server's own: what it is shown and writes is recorded as text.
 *
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function endpointPolicy(
  settings: EndpointSettings,
  environment?: HttpEnvironment,
): { policy: TextPolicy; meter: Meter } {
  if (settings.api === "completions") {
    const client = completionsClient("policy", settings, environment);
    const open: TextPolicy["open"] = (setting) => textDialogue(client, settings, setting);
    return { policy: { role: "policy", takesPrefix: true, open }, meter: client.meter };
  }
  const client = chatClient("policy", settings, environment);
  const open: TextPolicy["open"] = (setting) => chatDialogue(client, settings, setting);
  return { policy: { role: "policy", takesPrefix: false, open }, meter: client.meter };
}
