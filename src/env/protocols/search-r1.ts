import { z } from "../../base/schema.ts";
import { defineProtocol } from "./protocol.ts";
import { tagGrammar, tagOptions, type Tags } from "./tag-grammar.ts";

const options = z.strictObject({
  ...tagOptions,
  invalidMessage: tagOptions.invalidMessage
    .unwrap()
    .default(
      "\nThat message had no valid action. To search, I write the query between <search> and </search>; to finish, I write the answer between <answer> and </answer>. Let me try again.\n",
    ),
});

/**
 * Search-R1's tags: `<think>`, `<search>query</search>`, `<information>` passages `</information>`, `<answer>`. A message is cut after its
 * first `</search>`, else `</answer>`; one with neither is answered by a correction, without a penalty, and another turn.
 * Different here: the released code also searches the prompt for the answer; `answer.scope: prompt-and-response` brings that back.
 */
export const searchR1 = defineProtocol({
  name: "search-r1",
  summary:
    "Think, search, information and answer tags; text is cut after a tag, not stopped at it.",
  source:
    "Search-R1, arXiv 2503.09516; PeterGriffinJin/Search-R1, search_r1/llm_agent/generation.py",
  options,
  create: (settings) =>
    tagGrammar(settings, {
      calls: ["search"],
      answers: true,
      callsFirst: true,
      resultTag: "information",
      around: ["\n\n", "\n\n"],
      gap: "",
      missing: () => "neither search nor answer",
      invalidMessage: () => settings.invalidMessage,
      instructions,
      answerRequest: () =>
        "\nAnswer now, without a search, with nothing but <answer>the answer</answer>.",
    }),
});

/** Says nothing inside the tags that could be taken for a query or an answer. */
function instructions({ calls, result }: Tags): string {
  const { opening = "", closing = "" } = calls.get("search") ?? {};
  return [
    "Answer the question below. Think first, inside <think> and </think>, and again whenever you have read something new.",
    `Whenever you lack knowledge, search: write a query between ${opening} and ${closing} and stop; what was found is then shown to you between ${result.opening} and ${result.closing}.`,
    "Search as often as you need. As soon as you know the answer, give it between <answer> and </answer>: the answer alone, as short as possible, without an explanation.",
  ].join(" ");
}
