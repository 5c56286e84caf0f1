import { seedFrom } from "../../base/random.ts";
import type { DrawRequest } from "../../http/chat-messages.ts";
import type { CompletionReply, CompletionsClient } from "../../http/completions.ts";
import type { CallFinish } from "../../trajectory/trajectory.ts";
import type { Dialogue, DialogueSetting } from "../dialogue.ts";
import { CHARACTERS_PER_TOKEN } from "../policy.ts";
import { emptyTextDraft, splitPrefill, type TextDraft } from "../draft.ts";
import type { EndpointSettings } from "./endpoint-settings.ts";
import {
  askServer,
  contextFull,
  drawRequest,
  recordGiven,
  recordMessage,
  type RemotePlace,
  shownText,
  takeReply,
  replyLimit,
} from "./remote-message.ts";

/** State of a text. */
interface TextPlace extends RemotePlace {
  text: string;
}

/** A dialogue with a completions server: one growing text, as in training. */
export function textDialogue(
  client: CompletionsClient,
  settings: EndpointSettings,
  setting: DialogueSetting,
  from: TextPlace = { last: null, messages: 0, tokens: 0, text: "" },
): Dialogue {
  const place = { ...from };
  return {
    async write(inputs, signal, interject = () => null) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { read, prefill } = splitPrefill(inputs);
      const prompt = place.text + read.map(shownText).join("");
      const draft = emptyTextDraft(setting.ending, prefill);
      const replies: CompletionReply[] = [];
      let finish: CallFinish = "stop";
      while (!draft.isWhole()) {
        const request = partRequest(setting, settings, place, { draft, part: replies.length });
        const asked = { prompt: prompt + draft.whole(), ...request, signal };
        const reply = await askServer(() => client.complete(asked));
        if (reply === null) {
          if (replies.length === 0) return null;
          // No room to continue: the message stays unchanged.
          draft.undo();
          break;
        }
        finish = takeReply(setting, draft, reply);
        replies.push(reply);
        const put = interject(draft.text(), draft.put());
        if (put === null || !draft.interrupt(put)) break;
        if (draft.isWhole()) finish = "stop";
        else if (tokensLeft(setting, settings, draft) < 1) {
          draft.undo();
          break;
        }
        signal.throwIfAborted();
      }
      const message = recordMessage(setting, place, { draft, finish, replies, inputs: read });
      place.text = prompt + draft.whole();
      return message;
    },
    give(inputs, message) {
      place.text += inputs.map(shownText).join("") + message.text;
      place.messages += 1;
      return recordGiven(setting, place, inputs, message);
    },
    fork: (branch) => textDialogue(client, settings, { ...setting, ...branch }, place),
    end: () => undefined,
  };
}

/** The request for a message or, after an interruption, its continuation: with its own seed and the remaining tokens. */
function partRequest(
  setting: DialogueSetting,
  settings: EndpointSettings,
  place: TextPlace,
  { draft, part }: { draft: TextDraft; part: number },
): DrawRequest {
  const request = drawRequest(setting, settings, place);
  if (part === 0) return request;
  const seed = seedFrom(setting.seed, place.messages, part);
  return { ...request, seed, maxTokens: tokensLeft(setting, settings, draft) };
}

/** Remaining tokens of a message's budget; used tokens are estimated from its length. */
function tokensLeft(
  { budgets }: DialogueSetting,
  settings: EndpointSettings,
  draft: TextDraft,
): number {
  return replyLimit(budgets, settings) - Math.ceil(draft.text().length / CHARACTERS_PER_TOKEN);
}
