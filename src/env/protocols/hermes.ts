import { z } from "../../base/schema.ts";
import type { Action, Problem } from "../../trajectory/trajectory.ts";
import { answerRuleSchema } from "../answer-rule.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import {
  defineProtocol,
  type ParsedMessage,
  type Protocol,
  type ProtocolWorld,
  tagPair,
} from "./protocol.ts";

const NEITHER =
  "That message neither called a tool nor answered. Call a tool, or write the answer between <answer> and </answer>.";
const NO_CALL = "That message did not call a tool. Call one.";

const options = z.strictObject({
  /**
   * Who tells the policy of its tools. text: the prompt's {instructions}. native: the server's `tools` field, or the model's own chat
   * template.
   */
  calls: z.enum(["text", "native"]).default("text"),
  answer: answerRuleSchema.prefault({ pattern: "<answer>(.*?)</answer>" }),
  /** Reply to a message that neither calls a tool nor answers; by default it asks for an answer only where one can be given. */
  invalidMessage: z.string().default(NEITHER),
});

/**
 * Calls of tools as JSON, several in one message if need be: `<tool_call>{"name": "search", "arguments": {"query": "…"}}</tool_call>`,
 * answered by `<tool_response>` blocks; the answer in `<answer>` tags. Chat servers that parse such calls give them in a field of
 * their own, and take each result as a message.
 *
 * A call that is not JSON, or lacks a name, is a problem of its own with an observation of its own; the others are run.
 */
export const hermes = defineProtocol({
  name: "hermes",
  summary:
    "Calls of tools as JSON between tool_call tags, or in a chat server's own field for them.",
  source: "NousResearch/Hermes-Function-Calling; the grammar of Qwen2.5 and Qwen3",
  options,
  create: (settings, world) => makeProtocol(settings, world),
});

function makeProtocol(
  { calls, answer, invalidMessage }: z.output<typeof options>,
  { answers }: ProtocolWorld,
): Protocol {
  const native = calls === "native";
  return {
    stopStrings: [],
    findCut(text) {
      const at = answers ? text.indexOf("</answer>") : -1;
      return at < 0 ? null : at + "</answer>".length;
    },
    parse: (text) => parse(text, answers),
    tags: [
      tagPair("think", "thought"),
      tagPair("tool_call", "call"),
      tagPair("tool_response", "observation"),
      ...(answers ? [tagPair("answer", "answer")] : []),
    ],
    write: ({ thought, action }, tools) =>
      [...(thought === "" ? [] : [thought]), writeAction(action, tools)].join("\n"),
    renderObservations: (observations) =>
      observations.map(({ text }) => `<tool_response>\n${text}\n</tool_response>`).join("\n"),
    renderProblems: () => (!answers && invalidMessage === NEITHER ? NO_CALL : invalidMessage),
    renderContext: ({ text }) => `<tool_response>\n${text}\n</tool_response>\n`,
    instructions: (tools) =>
      [...(native ? [] : [describe(tools)]), ...(answers ? [ANSWERING] : [])].join("\n\n"),
    answerOpening: "<answer>",
    answerRequest:
      "\nAnswer now, without calling a tool, with nothing but <answer>the answer</answer>.",
    answer,
    ...(native ? { writeCalls } : {}),
  };
}

function parse(text: string, answers: boolean): ParsedMessage {
  const actions: Action[] = [];
  const problems: Problem[] = [];
  for (const [, body = ""] of text.matchAll(/<tool_call>(.*?)<\/tool_call>/gs)) {
    const call = readCall(body);
    if (typeof call === "string") {
      problems.push({ code: "bad-call", message: call });
      actions.push({ tool: "", input: call });
    } else actions.push(call);
  }
  if (actions.length > 0) return { actions, problems };
  const answer = answers ? /<answer>(.*?)<\/answer>/s.exec(text)?.[1] : undefined;
  if (answer !== undefined)
    return { actions: [{ tool: "answer", input: answer.trim() }], problems };
  return {
    actions,
    problems: [{ code: "no-action", message: answers ? "neither call nor answer" : "no call" }],
  };
}

/** One call, or what is wrong with it. */
function readCall(body: string): Action | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return "the call is not JSON";
  }
  const { name, arguments: given = {} } = (value ?? {}) as { name?: unknown; arguments?: unknown };
  if (typeof name !== "string" || name === "") return "the call names no tool";
  // The episode's own name for the end, which only the tags are.
  if (name === "answer")
    return "the answer is no tool; it is written between <answer> and </answer>";
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return `the arguments of ${name} are no JSON object`;
  }
  return { tool: name, input: inputOf(given) };
}

/** A call's arguments as an action's input: the text of a single one, else JSON. */
export function inputOf(given: object): string {
  const [only, ...more] = Object.values(given) as unknown[];
  return typeof only === "string" && more.length === 0 ? only.trim() : JSON.stringify(given);
}

/** A call with the input as the argument that the tool names first; an answer in its tags. */
function writeAction({ tool, input }: Action, tools: readonly ToolSchema[]): string {
  if (tool === "answer") return `<answer>${input}</answer>`;
  const schema = tools.find(({ function: { name } }) => name === tool)?.function;
  const properties = schema?.parameters["properties"] as object | undefined;
  const [argument = "input"] = Object.keys(properties ?? {});
  return writeCalls([{ name: tool, arguments: JSON.stringify({ [argument]: input }) }]);
}

function writeCalls(calls: Parameters<NonNullable<Protocol["writeCalls"]>>[0]): string {
  return calls
    .map((call) => {
      const name = JSON.stringify(call.name);
      return `<tool_call>\n{"name": ${name}, "arguments": ${call.arguments === "" ? "{}" : call.arguments}}\n</tool_call>`;
    })
    .join("\n");
}

function describe(tools: readonly ToolSchema[]): string {
  return [
    "You can call these tools, one or several in a message:",
    ...tools.map((tool) => JSON.stringify(tool.function)),
    'To call one, write a JSON object with its name and arguments between <tool_call> and </tool_call>, for example <tool_call>{"name": …, "arguments": {…}}</tool_call>. Results come between <tool_response> and </tool_response>.',
  ].join("\n");
}

const ANSWERING =
  "Answer the question below. Use the tools for whatever you do not know, as often as you need. As soon as you know the answer, write it between <answer> and </answer>: the answer alone, as short as possible, without an explanation.";
