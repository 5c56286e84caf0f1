import { registry } from "../../base/registry.ts";
import type { ExportFormat } from "./export-format.ts";
import { openaiChat } from "./openai-chat.ts";
import { trlMessages } from "./trl-messages.ts";
import { trlPreference } from "./trl-preference.ts";
import { trlPromptCompletion } from "./trl-prompt-completion.ts";
import { verl } from "./verl.ts";

/** All layouts of other programs that samples and pairs can be written in. */
export const exportFormats = registry<ExportFormat>("export format", [
  openaiChat,
  trlMessages,
  trlPromptCompletion,
  trlPreference,
  verl,
]);
