import { z } from "../../base/schema.ts";
import { filled, goldTexts } from "../../trajectory/gold-texts.ts";
import { firstThought as askFirstThought } from "../first-thought.ts";
import { begunThought, defineHint, drawText, hintText, textsOf } from "./hint.ts";

const openingOptions = z.strictObject({
  text: hintText({ library: "search-opening" }),
  /** Opening tag of the thinking; added unless the text begins with it. */
  thoughtOpening: z.string().default("<think>"),
  /** Messages with this prefill: the first one, all later ones, or every one. */
  messages: z.enum(["first", "later", "every"]).default("first"),
});

/** The prefill is a thought that announces the use of the tool. */
export const opening = defineHint({
  name: "opening",
  summary: "Prefills a message with a strategic thought: that it will use its tool.",
  where: "right after thinking begins",
  source:
    "CoRT, arXiv 2506.09820: Prompt-Hint; in the paper a fixed sentence, here also for later messages",
  options: openingOptions,
  open: ({ text, thoughtOpening, messages }, random) => ({
    prefill(place) {
      const isFirst = place.turn === 0;
      if (messages !== "every" && isFirst !== (messages === "first")) return null;
      return begunThought(drawText(text, random, { place, firedHere: 0 }), thoughtOpening);
    },
  }),
});

const firstThoughtOptions = z.strictObject({
  /** Opening tag of the thinking; added unless the text begins with it. */
  thoughtOpening: z.string().default("<think>"),
});

/** Asks for a chain of thought without tools; its first step is the prefill of the first message, unless empty or a whole message. */
export const firstThought = defineHint({
  name: "first-thought",
  summary: "The first message begins with the first step of the policy's own chain of thought.",
  where: "at the beginning of the first message",
  source:
    "Agent Distillation, arXiv 2505.17612: first-thought prefix; over searches instead of code",
  options: firstThoughtOptions,
  open: ({ thoughtOpening }) => ({
    async prefill({ turn, options: rollout, trajectory }) {
      if (turn > 0) return null;
      const thought = await askFirstThought(rollout, trajectory);
      if (thought === null || thought === "") return null;
      const begun = begunThought(thought, thoughtOpening);
      return rollout.environment.protocol.findCut(begun) === null ? begun : null;
    },
  }),
});

const withheldOptions = z.strictObject({
  /**
   * {titles}: of the gold passages. {answer}: the first reference. {questions}: the decomposition. {question}: the question itself.
   * A question that lacks a used value gets no hint.
   */
  text: hintText("Passages that help: {titles}.\n"),
});

/** The placeholders with gold values. */
const GOLD = /\{(?:titles|answer|questions)\}/;

/** The policy reads this text, and training rows leave it out. The policy may repeat it; gates of a synthesis check for that. */
export const withheld = defineHint({
  name: "withheld",
  summary: "Adds text after the prompt that the policy reads but training does not.",
  where: "after the first prompt, outside the training rows",
  source:
    "STaR, arXiv 2203.14465: rationalization, where the hint is the answer; the text is an option here",
  options: withheldOptions,
  readsGold: ({ text }) => textsOf(text).some((each) => GOLD.test(each)),
  open: ({ text }, random) => ({
    afterPrompt(place) {
      const { task } = place.options;
      return filled(drawText(text, random, { place, firedHere: 0 }), goldTexts(task));
    },
  }),
});
