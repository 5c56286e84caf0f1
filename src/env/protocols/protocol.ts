import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { type Members, requireReturned } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { Action, Observation, Problem } from "../../trajectory/trajectory.ts";
import { type AnswerRule, extractAnswer } from "../answer-rule.ts";

/** A call of a tool as a chat server gives it. */
export interface NativeCall {
  name: string;
  /** As the model wrote them: JSON where it wrote well. */
  arguments: string;
}

/** What one message asked for. Parsing never throws: what is wrong becomes a problem, and `onInvalid` decides. */
export type ParsedMessage = { actions: Action[]; problems: Problem[] };

/** What a message is to say, before a grammar makes text of it. */
export interface PlannedMessage {
  thought: string;
  /** Text of the grammar's own blocks, by tag: between thought and action. */
  blocks?: Readonly<Record<string, string>>;
  /** A tool and its input, or "answer". */
  action: Action;
}

/** A pair of tags of a grammar. */
export interface ProtocolTag {
  readonly name: string;
  /** What stands between them. All but observations is the policy's to write; a block is text of its own beside thoughts and actions. */
  readonly holds: "thought" | "call" | "answer" | "observation" | "block";
  readonly opening: string;
  readonly closing: string;
  /** The pair as a regular expression, where its closing text also stands elsewhere, as a brace does. */
  readonly whole?: string;
}

export const tagName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, "expected a letter, then letters, digits, - or _");

/** `<name>` and `</name>`. */
export function tagPair(name: string, holds: ProtocolTag["holds"]): ProtocolTag {
  return { name, holds, opening: `<${name}>`, closing: `</${name}>` };
}

/** A grammar between a policy and its environment: how prompts, calls, observations and answers are written as text. */
export interface Protocol {
  /** Texts after which the model need not write on: whatever it wrote would be cut. */
  readonly stopStrings: readonly string[];
  /** A stop string may stand where the message does not end, which then goes on: a fence that closes no call. Servers are sent none. */
  readonly resumes?: boolean;
  /** Where a message ends for the environment (exclusive); null keeps all. Cutting is not stopping. */
  findCut(text: string): number | null;
  parse(text: string): ParsedMessage;
  /** All tags of its texts: for checks that are stricter than `parse`, which takes what it can read. */
  readonly tags: readonly ProtocolTag[];
  /** A message as a policy that knows the grammar would write it: `parse` gives its action back. */
  write(message: PlannedMessage, tools: readonly ToolSchema[]): string;
  renderObservations(observations: readonly Observation[]): string;
  renderProblems(problems: readonly Problem[]): string;
  /** Shows passages in a prompt, for strategies that search before they ask. */
  renderContext(observation: Observation): string;
  instructions(tools: readonly ToolSchema[]): string;
  /** Put before every message that follows a reply, as if the policy had written it. */
  readonly messageOpening?: string;
  /** Opens an answer, for strategies that force one. */
  readonly answerOpening: string;
  /** Asks for an answer, for strategies that would force one on a policy whose messages cannot be begun for it. */
  readonly answerRequest: string;
  /** Native calls of a server or template as this grammar's text; absent: the policy itself writes calls in the text. */
  readonly writeCalls?: (calls: readonly NativeCall[]) => string;
  readonly answer: AnswerRule;
  /** A message without its thoughts, for the answer's rule. Absent: the rule reads the whole message. */
  readonly spoken?: (text: string) => string;
}

/** The final answer by a protocol's rule; null: none. */
export function answerIn(
  { answer, spoken = (text) => text }: Pick<Protocol, "answer" | "spoken">,
  { prompt, messages }: { prompt: string; messages: readonly string[] },
): string | null {
  return extractAnswer(answer, { prompt, messages: messages.map(spoken) });
}

/** Matches a pair of tags; its group is what stands between them. */
export function between({ opening, closing }: ProtocolTag, flags = ""): RegExp {
  return new RegExp(`${escapeRegExp(opening)}(.*?)${escapeRegExp(closing)}`, `s${flags}`);
}

/** End of the earliest of several texts; null if there is none. */
export function firstEnd(text: string, marks: readonly string[]): number | null {
  const ends = marks.flatMap((each) => {
    const at = text.indexOf(each);
    return at < 0 ? [] : [at + each.length];
  });
  return ends.length === 0 ? null : Math.min(...ends);
}

/** A regular expression, as text, that matches any tag of a grammar, or a whole pair; it matches the empty text where there are none. */
export function anyTag(tags: readonly ProtocolTag[]): string {
  return tags
    .flatMap((tag) => {
      const opening = escapeRegExp(tag.opening);
      return tag.whole === undefined ? [opening, closingPattern(tag)] : [tag.whole, opening];
    })
    .join("|");
}

type Pair = Pick<ProtocolTag, "opening" | "closing">;

/** A closing tag that its own opening holds, as "```" in "```python": only behind that opening does it close. */
export function isFence({ opening, closing }: Pair): boolean {
  const mark = closing.trim();
  return mark !== "" && opening.includes(mark);
}

/** A regular expression, as text, of a closing tag, but not where it begins an opening: "\n```" in "\n```python\n" closes nothing. */
export function closingPattern(pair: Pair): string {
  const closing = escapeRegExp(pair.closing);
  if (!isFence(pair)) return closing;
  const mark = pair.closing.trim();
  const rest = pair.opening.slice(pair.opening.indexOf(mark) + mark.length);
  return rest === "" ? closing : `${closing}(?!${escapeRegExp(rest)})`;
}

/** The tag that a text opens or closes. */
export function tagOf(mark: string, tags: readonly ProtocolTag[]): ProtocolTag | undefined {
  return tags.find(({ opening, closing }) => mark === opening || mark === closing);
}

/** What a grammar is made for. */
export type ProtocolWorld = { tools: readonly ToolSchema[]; answers: boolean };

/** A protocol that a recipe can name. */
export interface ProtocolPart extends PartWithOptions {
  readonly source: string;
  /** @param world absent: a grammar for answers, and for tools of any name where it can tell them without knowing them. */
  create(options: unknown, world?: ProtocolWorld): Protocol;
}

const PROTOCOL_MEMBERS = {
  stopStrings: "list",
  findCut: "function",
  parse: "function",
  tags: "list",
  write: "function",
  renderObservations: "function",
  renderProblems: "function",
  renderContext: "function",
  instructions: "function",
  answerOpening: "text",
  answerRequest: "text",
  answer: "object",
} as const satisfies Members;

const define = definer<ProtocolPart>()("protocol", {
  defaults: { source: "" },
  functions: {
    create: {
      at: 0,
      returned(protocol: Protocol, { what, name }) {
        requireReturned(what, protocol, PROTOCOL_MEMBERS);
        const parse = protocol.parse.bind(protocol);
        return Object.assign(protocol, {
          parse: (text: string) => requireParsed(name, parse(text)),
        });
      },
    },
  },
});

/** Makes a protocol. @throws {ConfigError} PLUGIN_BAD_PART without create. */
export function defineProtocol<S extends z.ZodObject>(
  described: Parameters<typeof define<S>>[0],
): ProtocolPart {
  const part = define(described);
  return {
    ...part,
    create: (options, world = { tools: [], answers: true }) => part.create(options, world),
  };
}

/** A plugin in plain JavaScript can return anything. @throws {ConfigError} PLUGIN_FAILED */
function requireParsed(name: string, parsed: Partial<ParsedMessage> | null): ParsedMessage {
  const { actions, problems } = parsed ?? {};
  const areActions =
    Array.isArray(actions) &&
    actions.every((each: Partial<Action> | null) => isText(each?.tool) && isText(each.input));
  const areProblems =
    Array.isArray(problems) &&
    problems.every((each: Partial<Problem> | null) => isText(each?.code) && isText(each.message));
  if (areActions && areProblems) return { actions, problems };
  const message = `protocol "${name}": parse must return { actions, problems }: lists of { tool, input } and of { code, message }, all text. Correct its code.`;
  throw new ConfigError("PLUGIN_FAILED", message);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/**
 * The continuation of a prefill, so that the message follows the plan: the rest of the planned text, else of the thought, and the action.
 * @returns "" if the prefill already contains an action.
 * @example <think> and </think> around thoughts, "<think> Wait." → " It is Oslo.</think><answer> Oslo</answer>"
 */
export function textAfter(
  prefill: string,
  message: PlannedMessage,
  { protocol, tools }: { protocol: Protocol; tools: readonly ToolSchema[] },
): string {
  const whole = protocol.write(message, tools);
  if (whole.startsWith(prefill)) return whole.slice(prefill.length);
  const action = protocol.write({ thought: "", action: message.action }, tools);
  if (action.startsWith(prefill)) return action.slice(prefill.length);
  if (protocol.parse(prefill).actions.length > 0) return "";
  const { thought } = message;
  const [before = "", after = ""] = whole
    .slice(0, whole.length - action.length)
    .split(thought, 2)
    .map((part) => part.trim());
  const begun = prefill.lastIndexOf(before);
  const isThinking = begun >= 0 && (after === "" || !prefill.slice(begun).includes(after));
  const tag = protocol.tags.find(({ holds }) => holds === "thought");
  const isOpen =
    tag !== undefined && prefill.lastIndexOf(tag.opening) > prefill.lastIndexOf(tag.closing);
  // A grammar that writes its thoughts without tags reads them still.
  if (after === "" && isOpen) return `${tag.closing}\n${action}`;
  if (!isThinking) return prefill.endsWith("\n") ? action : `\n${action}`;
  const rest = prefill.includes(thought) ? "" : `${/\s$/.test(prefill) ? "" : " "}${thought}`;
  return `${rest}${after === "" ? "\n" : after}${action}`;
}
