import type { CompletionsClient } from "../../http/completions.ts";
import type { Dialogue, DialogueSetting } from "../dialogue.ts";
import type { EndpointSettings } from "./endpoint-policy.ts";
import {
  askServer,
  contextFull,
  drawRequest,
  recordReply,
  type RemotePlace,
  shownText,
} from "./remote-message.ts";

/** Where a text stands. */
interface TextPlace extends RemotePlace {
  text: string;
}

/** A dialogue with a server that continues texts: one text grows, as in training. */
export function textDialogue(
  client: CompletionsClient,
  settings: EndpointSettings,
  setting: DialogueSetting,
  from: TextPlace = { last: null, messages: 0, tokens: 0, text: "" },
): Dialogue {
  const place = { ...from };
  return {
    async write(said, signal) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const prompt = place.text + said.map(shownText).join("");
      const reply = await askServer(() =>
        client.complete({ prompt, ...drawRequest(setting, settings, place), signal }),
      );
      if (reply === null) return null;
      const message = recordReply(setting, place, reply, said);
      place.text = prompt + message.text;
      return message;
    },
    fork: ({ id, seed }) => textDialogue(client, settings, { ...setting, id, seed }, place),
    end: () => undefined,
  };
}
