import { registry } from "../../base/registry.ts";
import type { ExportFormat } from "./export-format.ts";
import { openaiChat } from "./openai-chat.ts";
import { sharegpt } from "./sharegpt.ts";
import { trlMessages, trlPreference, trlPromptCompletion } from "./trl.ts";
import { verl } from "./verl.ts";

/** All file layouts of other programs for samples and pairs. */
export const exportFormats = registry<ExportFormat>("export format", [
  openaiChat,
  trlMessages,
  trlPromptCompletion,
  trlPreference,
  verl,
  sharegpt,
]);
