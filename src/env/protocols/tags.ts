import { z } from "../../base/schema.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import { defineProtocol } from "./protocol.ts";
import { tagGrammar, tagOptions, type Tags } from "./tag-grammar.ts";

const options = z.strictObject({
  ...tagOptions,
  resultTag: tagOptions.resultTag.unwrap().default("result"),
});

/**
 * One pair of tags per tool: `<calculator>2 + 3</calculator>`, answered by `<result>5</result>`; the answer in `<answer>` tags. A message
 * ends after its first complete call or answer. Options make other papers' grammars of it:
 * - ReSearch (arXiv 2503.19470): spliced, boxed
 * - R1-Searcher (arXiv 2503.05592): spliced, callTags.search `<|begin_of_query|>`, resultTag `<|begin_of_documents|>`
 * - AutoRefine (arXiv 2505.11277): resultTag documents, blocks refine
 */
export const tags = defineProtocol({
  name: "tags",
  summary: "A pair of tags for each tool, with its input between them; one action a message.",
  source: "Search-R1's grammar (arXiv 2503.09516), for tools of any name",
  options,
  create: (settings, { tools, answers }) => {
    const ways = ({ calls, answer }: Tags): string =>
      [...calls.values(), ...(answers ? [answer] : [])]
        .map(({ opening, closing }) => `${opening}…${closing}`)
        .join(" or ");
    return tagGrammar(settings, {
      calls: tools.map((tool) => tool.function.name),
      answers,
      callsFirst: false,
      resultTag: settings.resultTag,
      around: ["\n", "\n"],
      gap: " ",
      missing: (found) => `expected ${ways(found)}`,
      invalidMessage: (found) => `\nThat message had no valid action: write ${ways(found)}.\n`,
      instructions: (found) =>
        instructions(tools, found, { answers, thinks: settings.thoughts !== false }),
      answerRequest: ({ answer: { opening, closing } }) =>
        `\nAnswer now, without a tool, with nothing but ${opening}the answer${closing.trim()}.`,
    });
  },
});

function instructions(
  tools: readonly ToolSchema[],
  { calls, result, answer }: Tags,
  { answers, thinks }: { answers: boolean; thinks: boolean },
): string {
  return [
    `In each message, ${thinks ? "think inside <think> and </think>, then do" : "do"} one thing:`,
    ...tools.map(({ function: { name, description } }) => {
      const { opening = "", closing = "" } = calls.get(name) ?? {};
      return `${opening}…${closing}: ${description}`;
    }),
    `Results come between ${result.opening} and ${result.closing}.`,
    ...(answers
      ? [
          `As soon as you know the answer: ${answer.opening}the answer alone${answer.closing.trim()}.`,
        ]
      : []),
  ].join("\n");
}
