import { z } from "../../base/schema.ts";
import { answerRuleSchema } from "../answer-rule.ts";
import { defineProtocol, type Protocol } from "./protocol.ts";

const options = z.strictObject({
  answer: answerRuleSchema.prefault({ pattern: "<answer>(.*?)</answer>" }),
  /** Answer to a message that neither searches nor answers. */
  invalidMessage: z
    .string()
    .default(
      "\nThat message had no valid action. To search, I write the query between <search> and </search>; to finish, I write the answer between <answer> and </answer>. Let me try again.\n",
    ),
});

/**
 * Search-R1's tags: `<think>`, `<search>query</search>`, `<information>` passages `</information>`, `<answer>`.
 * A message is cut after its first `</search>`, else after its first `</answer>`; its action is the first complete search or
 * answer of the cut text. A message with neither is answered by a correction, without a penalty, and another turn.
 *
 * Different here: the answer is taken from what the policy wrote; the released code searches the prompt as well, whose own
 * example then answers for a rollout that has none. `answer.scope: prompt-and-response` brings that back.
 */
export const searchR1 = defineProtocol({
  name: "search-r1",
  summary:
    "Think, search, information and answer tags; text is cut after a tag, not stopped at it.",
  source:
    "Search-R1, arXiv 2503.09516; PeterGriffinJin/Search-R1, search_r1/llm_agent/generation.py",
  options,
  create: (settings) => makeProtocol(settings),
});

function makeProtocol({ answer, invalidMessage }: z.output<typeof options>): Protocol {
  return {
    // Nothing after the first </search> can survive the cut; after an </answer> a search still could.
    stopStrings: ["</search>"],
    findCut: (text) => endOf(text, "</search>") ?? endOf(text, "</answer>"),
    parse(text) {
      const match = /<(search|answer)>(.*?)<\/\1>/s.exec(text);
      if (match === null) {
        return {
          actions: [],
          problems: [{ code: "no-action", message: "neither search nor answer" }],
        };
      }
      return { actions: [{ tool: match[1] ?? "", input: (match[2] ?? "").trim() }], problems: [] };
    },
    tags: [
      { name: "think", holds: "thought" },
      { name: "search", holds: "call" },
      { name: "information", holds: "observation" },
      { name: "answer", holds: "answer" },
    ],
    write: ({ thought, action: { tool, input } }) =>
      `${thought === "" ? "" : `<think> ${thought}</think>`}<${tool}> ${input}</${tool}>`,
    renderObservations: (observations) => `\n\n${observations.map(information).join("\n")}\n\n`,
    renderProblems: () => invalidMessage,
    renderContext: (observation) => `${information(observation)}\n`,
    instructions: () => INSTRUCTIONS,
    answerOpening: "<answer>",
    answerRequest: "\nAnswer now, without a search, with nothing but <answer>the answer</answer>.",
    answer,
  };
}

/** Says nothing inside the tags that could be taken for a query or an answer. */
const INSTRUCTIONS = [
  "Answer the question below. Think first, inside <think> and </think>, and again whenever you have read something new.",
  "Whenever you lack knowledge, search: write a query between <search> and </search> and stop; what was found is then shown to you between <information> and </information>.",
  "Search as often as you need. As soon as you know the answer, give it between <answer> and </answer>: the answer alone, as short as possible, without an explanation.",
].join(" ");

function information({ text }: { text: string }): string {
  return `<information>${text}</information>`;
}

function endOf(text: string, tag: string): number | null {
  const at = text.indexOf(tag);
  return at < 0 ? null : at + tag.length;
}
