import type { PreferencePair } from "../../trajectory/sample.ts";
import type { Message } from "./conversation.ts";
import {
  originColumns,
  type PairFormat,
  type SampleFormat,
  templateMessage,
  toolsColumn,
} from "./export-format.ts";

/** Conversations for TRL's SFTTrainer; `assistant_only_loss` trains the policy's messages and no tool result. */
export const trlMessages: SampleFormat = {
  name: "trl-messages",
  summary: "messages (and tools with native calls): TRL's conversational language modelling.",
  source: "TRL, dataset formats",
  takes: "samples",
  calls: "text",
  loses: ["a sample's weight"],
  rows: (sample, conversations, telling) =>
    conversations.map((messages) => ({
      messages: messages.map(templateMessage),
      ...toolsColumn(telling),
      ...originColumns(sample),
    })),
};

/** One row for each message of the policy, with everything before it as the prompt: a completion-only loss trains what the policy wrote. */
export const trlPromptCompletion: SampleFormat = {
  name: "trl-prompt-completion",
  summary: "prompt and completion, one row for each message of the policy.",
  source: "TRL, dataset formats; a row per message is ours",
  takes: "samples",
  calls: "text",
  loses: ["a sample's weight"],
  rows: (sample, conversations, telling) =>
    conversations.flatMap((messages) =>
      messages.flatMap((message, at) =>
        message.turn === undefined
          ? []
          : [
              {
                prompt: messages.slice(0, at).map(templateMessage),
                completion: [templateMessage(message)],
                ...toolsColumn(telling),
                turn: message.turn,
                ...originColumns(sample),
              },
            ],
      ),
    ),
};

/** Pairs with an explicit prompt: the messages before the compared turns, and then each side's own. */
export const trlPreference: PairFormat = {
  name: "trl-preference",
  summary: "prompt, chosen and rejected messages: TRL's conversational preferences.",
  source: "TRL, dataset formats",
  takes: "pairs",
  calls: "text",
  loses: [
    "which tokens are compared: its trainer compares a side's replies too (pairs of one turn have none)",
  ],
  rows(pair, sides, telling) {
    const chosen = comparedMessages(sides.chosen, pair);
    const rejected = comparedMessages(sides.rejected, pair);
    if (chosen === null || rejected === null)
      return "a prompt built anew within the compared turns";
    const [prompt, other] = [chosen.before, rejected.before].map((all) => all.map(templateMessage));
    if (JSON.stringify(prompt) !== JSON.stringify(other)) return "sides with different prompts";
    return [
      {
        prompt,
        chosen: chosen.compared.map(templateMessage),
        rejected: rejected.compared.map(templateMessage),
        ...toolsColumn(telling),
        id: pair.id,
        margin: pair.margin,
        provenance: JSON.stringify({
          chosen: pair.chosen.provenance,
          rejected: pair.rejected.provenance,
        }),
      },
    ];
  },
};

function comparedMessages(
  conversations: readonly Message[][],
  { fromTurn = 0, turns = Infinity }: Pick<PreferencePair, "fromTurn" | "turns">,
): { before: Message[]; compared: Message[] } | null {
  const isCompared = ({ turn = -1 }: Message): boolean =>
    turn >= fromTurn && turn < fromTurn + turns;
  const holding = conversations.filter((each) => each.some(isCompared));
  const [messages] = holding;
  if (messages === undefined || holding.length > 1) return null;
  const first = messages.findIndex(isCompared);
  return {
    before: messages.slice(0, first),
    compared: messages.slice(first, messages.findLastIndex(isCompared) + 1),
  };
}
