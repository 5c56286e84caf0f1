import { z } from "../../base/schema.ts";
import type { Action, Problem } from "../../trajectory/trajectory.ts";
import { answerRuleSchema } from "../answer-rule.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import { argumentProblem, declaredOf, inputOf, onlyDeclared } from "./call-input.ts";
import { withoutThoughts } from "./thoughts.ts";
import {
  between,
  defineProtocol,
  firstEnd,
  type NativeCall,
  type ParsedMessage,
  type Protocol,
  type ProtocolTag,
  type ProtocolWorld,
  tagName,
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
  /** Tags around a call, around a result and around thoughts. Thoughts have no tags where `thoughtTag` is absent. */
  callTag: tagName.optional(),
  resultTag: tagName.optional(),
  thoughtTag: tagName.optional(),
  /** Key of a call's arguments. */
  argumentsKey: z.string().min(1).optional(),
  /** A message ends after its first call, which alone is run. By default it may have several. */
  firstCallOnly: z.boolean().optional(),
  /** Every message after a reply begins with the opening tag of a thought and a line break, which the policy does not write itself. */
  opensThought: z.boolean().optional(),
  answer: answerRuleSchema.prefault({ pattern: "<answer>(.*?)</answer>" }),
  /** Reply to a message that neither calls a tool nor answers; by default it asks for an answer only where one can be given. */
  invalidMessage: z.string().default(NEITHER),
});

/**
 * Calls of tools as JSON: `<tool_call>{"name": "search", "arguments": {"query": "…"}}</tool_call>`, answered by `<tool_response>` blocks;
 * the answer in `<answer>` tags. Chat servers that parse such calls give them in a field, and take each result as a message.
 * Thoughts do nothing, as in Qwen3's parsers; a message cut inside of a thought has no action. Undeclared arguments are dropped. A call that
 * is not JSON, or lacks a name, is answered with its problem; the others are run. Options make other papers' grammars of it:
 * - Agent-R1 (arXiv 2511.14460): thoughtTag think, firstCallOnly, opensThought
 * - MT-GRPO (arXiv 2505.11821): callTag tool, argumentsKey args, resultTag result, thoughtTag reasoning, firstCallOnly
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
  { calls, answer, invalidMessage, ...given }: z.output<typeof options>,
  { answers, tools: known }: ProtocolWorld,
): Protocol {
  const native = calls === "native";
  const grammar: Grammar = {
    call: tagPair(given.callTag ?? "tool_call", "call"),
    answer: answers ? tagPair("answer", "answer") : null,
    argumentsKey: given.argumentsKey ?? "arguments",
    firstCallOnly: given.firstCallOnly ?? false,
  };
  const result = tagPair(given.resultTag ?? "tool_response", "observation");
  const thought = tagPair(given.thoughtTag ?? "think", "thought");
  const shown = ({ text }: { text: string }): string =>
    `${result.opening}\n${text}\n${result.closing}`;
  const thinks = (text: string): string =>
    given.thoughtTag === undefined ? text : `${thought.opening}\n${text}\n${thought.closing}`;
  const endings = endingsOf(grammar);
  const acting = [grammar.call, ...(grammar.answer === null ? [] : [grammar.answer])];
  const spoken = (text: string, whole: boolean): string =>
    withoutThoughts(text, { thought, acting, whole });
  return {
    stopStrings: grammar.firstCallOnly ? endings : [],
    findCut: (text) => firstEnd(spoken(text, false), endings),
    parse: (text) => parse(spoken(text, true), grammar, known),
    spoken: (text) => spoken(text, true),
    tags: [thought, grammar.call, result, ...(grammar.answer === null ? [] : [grammar.answer])],
    write: ({ thought: said, action }, tools) =>
      [...(said === "" ? [] : [thinks(said)]), writeAction(action, tools, grammar)].join("\n"),
    renderObservations: (observations) => observations.map(shown).join("\n"),
    renderProblems: () => (!answers && invalidMessage === NEITHER ? NO_CALL : invalidMessage),
    renderContext: (observation) => `${shown(observation)}\n`,
    instructions: (tools) =>
      [
        ...(native ? [] : [describe(tools, grammar, result)]),
        ...(given.thoughtTag === undefined
          ? []
          : [`In each message, think first, between ${thought.opening} and ${thought.closing}.`]),
        ...(answers ? [ANSWERING] : []),
      ].join("\n\n"),
    answerOpening: "<answer>",
    answerRequest:
      "\nAnswer now, without calling a tool, with nothing but <answer>the answer</answer>.",
    answer,
    messageOpening: given.opensThought === true ? `${thought.opening}\n` : undefined,
    writeCalls: native ? (each) => writeCalls(each, grammar) : undefined,
  };
}

interface Grammar {
  call: ProtocolTag;
  /** null: messages cannot answer. */
  answer: ProtocolTag | null;
  argumentsKey: string;
  firstCallOnly: boolean;
}

function endingsOf({ call, answer, firstCallOnly }: Grammar): string[] {
  const ends = [...(firstCallOnly ? [call] : []), ...(answer === null ? [] : [answer])];
  return ends.map(({ closing }) => closing);
}

function parse(
  text: string,
  { call, answer, argumentsKey, firstCallOnly }: Grammar,
  tools: readonly ToolSchema[],
): ParsedMessage {
  const actions: Action[] = [];
  const problems: Problem[] = [];
  const bodies = Array.from(text.matchAll(between(call, "g")), ([, body = ""]) => body);
  for (const body of firstCallOnly ? bodies.slice(0, 1) : bodies) {
    const read = readCall(body, argumentsKey, tools);
    if (typeof read === "string") {
      problems.push({ code: "bad-call", message: read });
      actions.push({ tool: "", input: read });
    } else actions.push(read);
  }
  if (actions.length > 0) return { actions, problems };
  const answered = answer === null ? undefined : between(answer).exec(text)?.[1];
  if (answered !== undefined)
    return { actions: [{ tool: "answer", input: answered.trim() }], problems };
  const message = answer === null ? "no call" : "neither call nor answer";
  return { actions, problems: [{ code: "no-action", message }] };
}

/** One call, or what is wrong with it. */
function readCall(
  body: string,
  argumentsKey: string,
  tools: readonly ToolSchema[],
): Action | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return "the call is not JSON";
  }
  const { name, [argumentsKey]: given = {} } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "") return "the call names no tool";
  // The episode's own name for the end, which only the tags are.
  if (name === "answer")
    return "the answer is no tool; it is written between <answer> and </answer>";
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return `the arguments of ${name} are no JSON object`;
  const declared = declaredOf(name, tools);
  const own = declared === null ? given : onlyDeclared(given, declared);
  return argumentProblem(name, own, declared) ?? { tool: name, input: inputOf(own, declared) };
}

/** A call with the input as the argument that the tool names first; an answer in its tags. */
function writeAction(
  { tool, input }: Action,
  tools: readonly ToolSchema[],
  grammar: Grammar,
): string {
  // With a space: a small policy reads and writes words with the space before them.
  if (tool === "answer") return `<answer> ${input}</answer>`;
  const schema = tools.find(({ function: { name } }) => name === tool)?.function;
  const properties = schema?.parameters["properties"] as object | undefined;
  const [argument = "input"] = Object.keys(properties ?? {});
  return writeCalls([{ name: tool, arguments: JSON.stringify({ [argument]: input }) }], grammar);
}

function writeCalls(calls: readonly NativeCall[], { call: tag, argumentsKey }: Grammar): string {
  return calls
    .map((call) => {
      const given = call.arguments === "" ? "{}" : call.arguments;
      const body = `{"name": ${JSON.stringify(call.name)}, "${argumentsKey}": ${given}}`;
      return `${tag.opening}\n${body}\n${tag.closing}`;
    })
    .join("\n");
}

function describe(
  tools: readonly ToolSchema[],
  { call: { opening, closing }, argumentsKey, firstCallOnly }: Grammar,
  result: ProtocolTag,
): string {
  return [
    `You can call these tools, one ${firstCallOnly ? "" : "or several "}in a message:`,
    ...tools.map((tool) => JSON.stringify(tool.function)),
    `To call one, write a JSON object with its name and ${argumentsKey} between ${opening} and ${closing}, for example ${opening}{"name": …, "${argumentsKey}": {…}}${closing}. Results come between ${result.opening} and ${result.closing}.`,
  ].join("\n");
}

const ANSWERING =
  "Answer the question below. Use the tools for whatever you do not know, as often as you need. As soon as you know the answer, write it between <answer> and </answer>: the answer alone, as short as possible, without an explanation.";
