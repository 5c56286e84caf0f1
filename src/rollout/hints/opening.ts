import { z } from "../../base/schema.ts";
import { defineHint } from "./hint.ts";
import { begunThought, drawText, hintText } from "./hint-text.ts";

const options = z.strictObject({
  text: hintText({ library: "search-opening" }),
  /** Begins a policy's thinking: put before it unless it begins with that. */
  thoughtOpening: z.string().default("<think>"),
  /** Messages that begin with it: the first one, all but that, or every one. */
  messages: z.enum(["first", "later", "every"]).default("first"),
});

/** A message is made to begin with thinking that announces the use of the tool. */
export const opening = defineHint({
  name: "opening",
  summary: "A message begins with a strategic thought: that it will use its tool.",
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
