import { z } from "../../base/schema.ts";
import { defineGate } from "./define-step.ts";
import { mainTurns } from "./main-line.ts";

const FAILED = new Set(["tool-error", "model-error", "timeout", "cancelled"]);
const UNFINISHED = new Set(["turn-limit", "token-limit", "context-limit"]);

export const answered = defineGate({
  name: "answered",
  summary: "Drops what did not end with an answer: failed, cut short, or without one.",
  source:
    "Agent Distillation, arXiv 2505.17612: only trajectories that did not run out of steps are learned from",
  options: z.strictObject({}),
  why({ trajectory }) {
    const { end, error, answer } = trajectory;
    if (error !== undefined || FAILED.has(end)) return "failed";
    if (UNFINISHED.has(end)) return "unfinished";
    if (answer === null || answer.trim() === "") return "no answer";
    if (end !== "answered") return "unfinished";
    // A strategy that votes, or asks by prompts of its own, has its answer elsewhere than in a last message.
    const turns = mainTurns(trajectory);
    const answers = turns.some(({ actions }) => actions.some(({ tool }) => tool === "answer"));
    const last = turns.at(-1)?.actions ?? [];
    const searchesOn = last.length > 0 && !last.some(({ tool }) => tool === "answer");
    return searchesOn || (answers && last.length === 0) ? "unfinished" : null;
  },
});
