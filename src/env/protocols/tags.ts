import { z } from "../../base/schema.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import { answerRuleSchema } from "../answer-rule.ts";
import { defineProtocol, type Protocol, type ProtocolWorld } from "./protocol.ts";

const options = z.strictObject({
  answer: answerRuleSchema.prefault({ pattern: "<answer>(.*?)</answer>" }),
  /** Name of the tags around results of tools. */
  resultTag: z
    .string()
    .regex(/^[A-Za-z][\w-]*$/, "expected a letter, then letters, digits, - or _")
    .default("result"),
  /** Reply to a message without a valid action; absent: one that lists the tags. */
  invalidMessage: z.string().optional(),
});

/**
 * One pair of tags per tool, around its input: `<calculator>2 + 3</calculator>`, answered by `<result>5</result>`; the answer in
 * `<answer>` tags. A message ends after its first complete call or answer.
 */
export const tags = defineProtocol({
  name: "tags",
  summary: "A pair of tags for each tool, with its input between them; one action a message.",
  source: "Search-R1's grammar (arXiv 2503.09516), for tools of any name",
  options,
  create: (settings, world) => makeProtocol(settings, world),
});

function makeProtocol(
  { answer, resultTag, invalidMessage }: z.output<typeof options>,
  { tools, answers }: ProtocolWorld,
): Protocol {
  const calls = tools.map((tool) => tool.function.name);
  const names = [...calls, ...(answers ? ["answer"] : [])];
  const closings = names.map((name) => `</${name}>`);
  const action = new RegExp(`<(${names.map(escaped).join("|")})>(.*?)</\\1>`, "s");
  const ways = names.map((name) => `<${name}>…</${name}>`).join(" or ");
  const information = ({ text }: { text: string }): string =>
    `<${resultTag}> ${text}</${resultTag}>`;
  return {
    stopStrings: closings,
    findCut(text) {
      const ends = closings.flatMap((closing) => {
        const at = text.indexOf(closing);
        return at < 0 ? [] : [at + closing.length];
      });
      return ends.length === 0 ? null : Math.min(...ends);
    },
    parse(text) {
      const match = names.length === 0 ? null : action.exec(text);
      if (match === null) {
        return { actions: [], problems: [{ code: "no-action", message: `expected ${ways}` }] };
      }
      return { actions: [{ tool: match[1] ?? "", input: (match[2] ?? "").trim() }], problems: [] };
    },
    tags: [
      { name: "think", holds: "thought" },
      ...calls.map((name) => ({ name, holds: "call" }) as const),
      { name: resultTag, holds: "observation" },
      ...(answers ? [{ name: "answer", holds: "answer" } as const] : []),
    ],
    write: ({ thought, action: { tool, input } }) =>
      `${thought === "" ? "" : `<think> ${thought}</think>`}<${tool}> ${input}</${tool}>`,
    renderObservations: (observations) => `\n${observations.map(information).join("\n")}\n`,
    renderProblems: () => invalidMessage ?? `\nThat message had no valid action: write ${ways}.\n`,
    renderContext: (observation) => `${information(observation)}\n`,
    instructions: () => instructions(tools, resultTag, answers),
    answerOpening: "<answer>",
    answerRequest: "\nAnswer now, without a tool, with nothing but <answer>the answer</answer>.",
    answer,
  };
}

function instructions(tools: readonly ToolSchema[], resultTag: string, answers: boolean): string {
  return [
    "In each message, think inside <think> and </think>, then do one thing:",
    ...tools.map(({ function: { name, description } }) => `<${name}>…</${name}>: ${description}`),
    `Results come between <${resultTag}> and </${resultTag}>.`,
    ...(answers ? ["As soon as you know the answer: <answer>the answer alone</answer>."] : []),
  ].join("\n");
}

function escaped(name: string): string {
  return name.replace(/-/g, "\\-");
}
