import { z } from "../../base/schema.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import type { Turn } from "../../trajectory/trajectory.ts";
import { withPrompts, type PromptSession } from "../prompt-session.ts";
import { passagesIn, numbered } from "../../trajectory/passages.ts";
import { firstLine, sentencesOf } from "../sentences.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Most steps, each a thought with an action. */
  steps: z.int().min(1).default(7),
  /** Worked examples in the same grammar, shown before the question. */
  examples: z.string().default(""),
});

/**
 * A transcript of `Thought i:`, `Action i:` and `Observation i:`; the policy writes the first two. Of a message without an action the first
 * line is kept as a thought, and a second request asks for the action. Without steps left there is no answer.
 */
export const react = defineStrategy({
  name: "react",
  summary: "ReAct: thoughts, actions (Search, Lookup, Finish) and observations in one transcript.",
  source:
    "Yao et al., arXiv 2210.03629; ysymyth/ReAct. Different here: Search shows the environment's passages, not the first sentences of one page",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options,
  example: {
    search: "Norway rain\nAction 1: Search[Norway rain]",
    answer: "Oslo is the capital.\nAction 1: Finish[Oslo]",
  },
  run: (rollout, { steps, examples }) =>
    withPrompts(rollout, async (session) => {
      const start = [INSTRUCTIONS, ...(examples === "" ? [] : [examples.trimEnd()])];
      let transcript = [...start, `Question: ${rollout.task.question}`].join("\n");
      const page = new Page();
      for (let step = 1; step <= steps; step++) {
        const asked = await askStep(session, transcript, step);
        if (asked === null) return null;
        const { thought, action, turn } = asked;
        const call = readAction(action);
        if (call?.tool === "finish") {
          turn.actions.push({ tool: "answer", input: call.input });
          return call.input;
        }
        const observation = await observe({ session, page, turn, call, action });
        transcript += `\nThought ${step}: ${thought}\nAction ${step}: ${action}\nObservation ${step}: ${observation}`;
      }
      return null;
    }),
});

const INSTRUCTIONS = [
  "Answer a question in steps of a thought, an action and an observation. A thought says what is known and what is missing. An action is one of:",
  "Search[query]: shows the passages that fit a query.",
  "Lookup[words]: shows the next sentence with these words in the passages of the last search.",
  "Finish[answer]: ends with the answer, as short as possible.",
  "The observation is what the action shows; it is written for you.",
].join("\n");

type AskedStep = { thought: string; action: string; turn: Turn };

async function askStep(
  session: PromptSession,
  transcript: string,
  step: number,
): Promise<AskedStep | null> {
  const { turns } = session.trajectory;
  const prompt = `${transcript}\nThought ${step}:`;
  const message = await session.ask(prompt, {
    stop: ["\nObservation"],
    asked: {
      for: "step",
      write: (message) => ` ${message.thought}\nAction ${step}:${actionText(message)}`,
    },
  });
  if (message === null) return null;
  const [before = "", after] = message.text.split(/\n?Action(?: \d+)?:/, 2);
  const first = turns[message.turn];
  if (after !== undefined && first !== undefined)
    return { thought: before.trim(), action: firstLine(after), turn: first };
  first?.problems.push({ code: "no-action", message: "a thought without an action" });
  const thought = firstLine(message.text);
  const second = await session.ask(`${prompt} ${thought}\nAction ${step}:`, {
    stop: ["\nObservation"],
    asked: { for: "step", write: actionText },
  });
  const turn = second === null ? undefined : turns[second.turn];
  return second === null || turn === undefined
    ? null
    : { thought, action: firstLine(second.text), turn };
}

/** A space before the input keeps its first word one token. */
function actionText({ action: { tool, input } }: PlannedMessage): string {
  return ` ${tool === "answer" ? "Finish" : "Search"}[ ${input}]`;
}

type Call = { tool: "search" | "lookup" | "finish"; input: string };

function readAction(action: string): Call | null {
  const [, name = "", input = ""] = /^(\w+)\[(.*)\]/s.exec(action) ?? [];
  const tool = (["search", "lookup", "finish"] as const).find(
    (each) => each === name.toLowerCase(),
  );
  return tool === undefined ? null : { tool, input: input.trim() };
}

interface Observing {
  session: PromptSession;
  page: Page;
  turn: Turn;
  call: Call | null;
  action: string;
}

async function observe({ session, page, turn, call, action }: Observing): Promise<string> {
  if (call === null) {
    const message = `Invalid action: ${action}`;
    turn.problems.push({ code: "invalid-action", message });
    return `${message}. Use Search[…], Lookup[…] or Finish[…].`;
  }
  if (call.tool === "search") {
    const found = await session.search(call.input, session.trajectory.turns.indexOf(turn));
    const passages = passagesIn(found);
    page.open(passages.map(({ text }) => text));
    return passages.length === 0 ? found.text.trim() : numbered(passages);
  }
  const text = page.lookUp(call.input);
  turn.actions.push({ tool: "lookup", input: call.input });
  turn.observations.push({ tool: "lookup", text });
  return text;
}

class Page {
  #sentences: string[] = [];
  #words = "";
  #next = 0;

  open(passages: readonly string[]): void {
    this.#sentences = passages.flatMap(sentencesOf);
    this.#words = "";
  }

  /** The next sentence with some words; other words restart the search. */
  lookUp(words: string): string {
    if (words !== this.#words) this.#next = 0;
    this.#words = words;
    const results = this.#sentences.filter((sentence) =>
      sentence.toLowerCase().includes(words.toLowerCase()),
    );
    const sentence = results[this.#next];
    if (sentence === undefined) return "No more results.";
    this.#next += 1;
    return `(Result ${this.#next} / ${results.length}) ${sentence}`;
  }
}
