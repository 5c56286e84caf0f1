import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { begunThought, drawText, hintText } from "./hint-text.ts";

const options = z.strictObject({
  text: hintText({ library: "search-opening" }),
  /** Opening of a policy's thinking: added unless the text starts with it. */
  thoughtOpening: z.string().default("<think>"),
  /** Messages with this prefill: the first, all later ones, or every one. */
  messages: z.enum(["first", "later", "every"]).default("first"),
});

/** The prefill of a message is a thought that announces the use of the tool. */
export const opening = defineHint({
  name: "opening",
  summary: "Prefills a message with a strategic thought: that it will use its tool.",
  where: "right after thinking begins",
  source:
    "CoRT, arXiv 2506.09820: Prompt-Hint; in the paper a fixed sentence, here also for later messages",
  options,
  open: ({ text, thoughtOpening, messages }, random) => ({
    opening(place) {
      const isFirst = place.turn === 0;
      if (messages !== "every" && isFirst !== (messages === "first")) return null;
      return begunThought(drawText(text, random, { place, firedHere: 0 }), thoughtOpening);
    },
  }),
});
