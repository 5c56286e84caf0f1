import { conversationsOf } from "./conversation.ts";
import { originColumns, type SampleFormat, templateMessage } from "./export-format.ts";

/**
 * One row for each message of the policy: all before it is the prompt, it alone the completion. Every trainer that learns completions only
 * then learns exactly what the policy wrote, whatever its chat template can mark.
 */
export const trlPromptCompletion: SampleFormat = {
  name: "trl-prompt-completion",
  summary: "prompt and completion, one row for each message of the policy.",
  source: "TRL, dataset formats; a row per message is ours",
  takes: "samples",
  calls: "text",
  loses: ["a sample's weight"],
  rows: (sample, telling) =>
    conversationsOf(sample.trajectory, telling).flatMap((messages) =>
      messages.flatMap((message, at) =>
        message.turn === undefined
          ? []
          : [
              {
                prompt: messages.slice(0, at).map(templateMessage),
                completion: [templateMessage(message)],
                ...(telling.calls === "native" ? { tools: telling.tools } : {}),
                turn: message.turn,
                ...originColumns(sample),
              },
            ],
      ),
    ),
};
