import { commandCaller } from "../../http/caller.ts";
import { chatClient } from "../../http/chat.ts";
import type { HttpEnvironment } from "../../http/endpoint.ts";
import { completionsClient } from "../../http/completions.ts";
import type { Meter } from "../../http/meter.ts";
import type { TextPolicy } from "../policy.ts";
import { chatDialogue } from "./chat-dialogue.ts";
import { textDialogue } from "./text-dialogue.ts";
import type { EndpointSettings } from "./endpoint-settings.ts";

const CALLER = commandCaller("policy", "policy.endpoint");

/**
 * A policy behind any OpenAI-compatible server. The server keeps its tokens: input and output are recorded as text.
 *
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function endpointPolicy(
  settings: EndpointSettings,
  environment?: HttpEnvironment,
): { policy: TextPolicy; meter: Meter } {
  if (settings.api === "completions") {
    const client = completionsClient(CALLER, settings, environment);
    const open: TextPolicy["open"] = (setting) => textDialogue(client, settings, setting);
    return { policy: { role: "policy", takesPrefill: true, open }, meter: client.meter };
  }
  const client = chatClient(CALLER, settings, environment);
  const open: TextPolicy["open"] = (setting) => chatDialogue(client, settings, setting);
  return { policy: { role: "policy", takesPrefill: false, open }, meter: client.meter };
}
