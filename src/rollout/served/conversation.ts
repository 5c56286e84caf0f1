/**
 * What an agent from outside asks of a policy, recorded as calls. A request that begins with an earlier request and its answer continues
 * that call: its tokens are kept as they were sampled, and only what follows is rendered and encoded.
 */
import { seedFrom } from "../../base/random.ts";
import type { TemplateMessage } from "../../chat/chat-template.ts";
import { firstEnd } from "../../env/protocols/protocol.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  type Call,
  type CallFinish,
  type Segment,
  sequenceIds,
} from "../../trajectory/trajectory.ts";
import { cutTokens } from "../cut-tokens.ts";
import type { TokenPolicy } from "../policy.ts";
import { type Sampling, recordedTemperature } from "../sampling.ts";
import { isLongerThan } from "./longer-than.ts";
import {
  type MessageTemplate,
  type WireCall,
  type WireMessage,
  messageKeys,
  toolCallsOf,
} from "./message-keys.ts";
import { ServedError } from "./served-error.ts";

/** How one answer is drawn. */
export interface Draw {
  sampling: Sampling;
  maxTokens: number;
  stop: readonly string[];
  keepStop: boolean;
  seed: number | null;
}

/** An answer of the policy. */
export interface Answer {
  call: number;
  /** Text for the client: without EOS and, by default, without the stop string. */
  text: string;
  calls: WireCall[];
  ids: number[];
  logprobs: number[];
  promptIds: number[];
  finish: CallFinish;
}

export interface Conversation {
  readonly id: string;
  readonly calls: Call[];
  /** Text of each call's answer with its stop string, by index in `calls`. */
  readonly texts: string[];
  tokens: number;
  isFull: boolean;
  /** @throws {ServedError} 400. @throws as the policy's engine. */
  chat(messages: readonly WireMessage[], tools: readonly unknown[], draw: Draw): Promise<Answer>;
  /** @param prompt text, or token ids. @throws as `chat`. */
  complete(prompt: string | readonly number[], draw: Draw): Promise<Answer>;
  /** How many of the keys' messages are of this conversation; 0: none. @param keys of `messageKeys`. */
  sharedMessages(keys: readonly string[]): number;
  /** How much of a prompt is an earlier prompt with its answer, in characters or ids; 0: nothing. */
  sharedPrompt(prompt: string | readonly number[]): number;
  end(): void;
}

export interface ConversationOptions {
  id: string;
  seed: number;
  policy: TokenPolicy;
  template: MessageTemplate;
  room?: number;
  /** Whether the engine keeps its cache until `end`. It holds a slot that others wait for. */
  keepsCache: boolean;
}

/** Stands for the answer in a rendered conversation, to find what the template puts after it. */
const MARK = "\u2063answer\u2063";

const MOST_CALLS = 1000;

type State = { asked: number; isBusy: boolean };

type Continued = { parent: number | null; added: Segment[] };

export function openConversation(options: ConversationOptions): Conversation {
  const { id, policy, template } = options;
  const { tokenizer } = policy;
  const calls: Call[] = [];
  const texts: string[] = [];
  /** Calls by the messages up to and including their answer. */
  const heads = new Map<string, number>();
  const wholes: { text: string; call: number }[] = [];
  const most = longestSequence(policy, options.room);
  const begun = async (text: string): Promise<Continued> => {
    if (await isLongerThan(most, text, tokenizer)) throw tooLong(conversation, most, null);
    return { parent: null, added: [segment("template", tokenizer.encodeStart(text))] };
  };
  const after = async (parent: number, text: string): Promise<Continued> => {
    if (await isLongerThan(most, text, tokenizer)) throw tooLong(conversation, most, null);
    const added = text === "" ? [] : [segment("environment", tokenizer.encode(text))];
    return { parent, added };
  };

  const continuedChat = (
    messages: readonly WireMessage[],
    keys: readonly string[],
    tools: readonly unknown[],
  ): Promise<Continued> => {
    const named = tools.length === 0 ? {} : { tools };
    const render = (each: readonly WireMessage[]): string =>
      template.render(each.map(withParsedCalls), { addGenerationPrompt: true, ...named });
    for (let at = messages.length - 1; at > 0; at--) {
      const parent = heads.get(keys[at] ?? "");
      if (parent === undefined) continue;
      const marked = messages.with(at - 1, { role: "assistant", content: MARK });
      const [, follows, ...more] = render(marked).split(MARK);
      if (follows === undefined || more.length > 0) break;
      return after(parent, withoutEnd(policy, calls[parent], follows));
    }
    return begun(render(messages));
  };

  /** The call whose text or ids begin a prompt; the longest. */
  const beginningOf = (prompt: string | readonly number[]): { call: number; length: number } => {
    const found =
      typeof prompt === "string"
        ? wholes
            .filter(({ text }) => prompt.startsWith(text))
            .map(({ text, call }) => ({ call, length: text.length }))
        : calls
            .map((_, call) => ({ call, ids: sequenceIds(calls, call) }))
            .filter(({ ids }) => ids.every((each, i) => each === prompt[i]))
            .map(({ call, ids }) => ({ call, length: ids.length }));
    return found.reduce((best, each) => (each.length > best.length ? each : best), {
      call: 0,
      length: 0,
    });
  };

  const continuedText = async (prompt: string | readonly number[]): Promise<Continued> => {
    const { call, length } = beginningOf(prompt);
    const parent = length === 0 ? null : call;
    if (typeof prompt === "string")
      return parent === null ? begun(prompt) : after(parent, prompt.slice(length));
    const owner = parent === null ? "template" : "environment";
    return { parent, added: [segment(owner, prompt.slice(length))] };
  };

  const state: State = { asked: 0, isBusy: false };
  const written = (continued: Continued, draw: Draw) =>
    write(conversation, { ...options, state }, continued, draw);
  const conversation: Conversation = {
    id,
    calls,
    texts,
    tokens: 0,
    isFull: false,
    async chat(messages, tools, draw) {
      if (tools.length > 0 && !template.showsTools) {
        const message =
          "tools: the model has no chat template that could tell it of them. Describe them in a message.";
        throw new ServedError(400, message, { param: "tools" });
      }
      const keys = messageKeys(messages, tools);
      const continued = await continuedChat(messages, keys, tools);
      const { answer, whole } = await written(continued, draw);
      const found = tools.length > 0 ? toolCallsOf(answer.text, `${id}-${answer.call}`) : null;
      const { content, calls: called } = found ?? { content: answer.text, calls: [] };
      const given = called.length > 0 ? { tool_calls: called } : {};
      // Agents may put the stop string back.
      for (const each of new Set([content, ...(called.length === 0 ? [whole] : [])])) {
        const reply: WireMessage = { role: "assistant", content: each, ...given };
        heads.set(messageKeys([...messages, reply], tools).at(-1) ?? "", answer.call);
      }
      return { ...answer, text: content, calls: called };
    },
    async complete(prompt, draw) {
      const { answer, whole } = await written(await continuedText(prompt), draw);
      if (typeof prompt === "string") {
        for (const each of new Set([answer.text, whole]))
          wholes.push({ text: prompt + each, call: answer.call });
      }
      return answer;
    },
    sharedMessages: (keys) =>
      Math.max(
        0,
        keys.findLastIndex((key) => heads.has(key)),
      ),
    sharedPrompt: (prompt) => beginningOf(prompt).length,
    end: () => {
      policy.end(id);
    },
  };
  return conversation;
}

/** Asks the policy and records the call. @returns with `whole`, the text up to and including the stop string. */
async function write(
  conversation: Conversation,
  { id, seed, policy, keepsCache, state, room }: ConversationOptions & { state: State },
  { parent, added }: Continued,
  { sampling, maxTokens, stop, keepStop, seed: asked }: Draw,
): Promise<{ answer: Answer; whole: string }> {
  const { calls, texts } = conversation;
  const { tokenizer } = policy;
  if (state.asked >= MOST_CALLS)
    throw new ServedError(400, `The conversation has had ${MOST_CALLS} requests; begin another.`);
  const before = parent === null ? [] : sequenceIds(calls, parent);
  const promptIds = [...before, ...added.flatMap(({ ids }) => ids)];
  if (promptIds.length === 0) throw new ServedError(400, "The prompt is empty.");
  const most = longestSequence(policy, room);
  const space = most - promptIds.length;
  if (space < 1) throw tooLong(conversation, most, promptIds.length);
  const isNext = parent === (calls.length === 0 ? null : calls.length - 1);
  const sequence = keepsCache && isNext && !state.isBusy ? id : null;
  const number = state.asked++;
  if (sequence !== null) state.isBusy = true;
  const result = await policy
    .complete({
      promptIds,
      ...sampling,
      stopStrings: stop,
      sequence,
      task: NO_TASK,
      turns: [],
      maxTokens: Math.min(maxTokens, space),
      stopIds: [...tokenizer.endIds],
      seed: asked ?? seedFrom(seed, number),
    })
    .finally(() => {
      if (sequence !== null) state.isBusy = false;
    });
  const cut = (text: string): number | null => firstEnd(text, stop);
  const {
    ids,
    logprobs,
    text: whole,
  } = cutTokens(result, tokenizer, { stopStrings: stop, findCut: cut });
  const isStopped = cut(whole) !== null;
  const finish = isStopped ? "stop" : result.finish;
  const closing = isStopped ? (stop.find((each) => whole.endsWith(each)) ?? "") : "";
  const call = calls.length;
  calls.push({
    parent,
    role: policy.role,
    policyVersion: policy.version,
    prompt: added,
    completion: [{ owner: "policy", ids, logprobs }],
    finish: finish === "length" && space < maxTokens ? "context" : finish,
    ...recordedTemperature(sampling),
  });
  texts.push(whole);
  conversation.tokens += ids.length + added.reduce((sum, each) => sum + each.ids.length, 0);
  const text = keepStop ? whole : whole.slice(0, whole.length - closing.length);
  return { answer: { call, text, calls: [], ids, logprobs, promptIds, finish }, whole };
}

function longestSequence(policy: TokenPolicy, room = Infinity): number {
  return Math.min(policy.maxPositions - 1, room);
}

function tooLong(conversation: Conversation, most: number, tokens: number | null): ServedError {
  conversation.isFull = true;
  const message = `The prompt has ${tokens ?? `more than ${most}`} tokens, and the model's context is ${most} tokens with its answer.`;
  return new ServedError(400, message, { code: "context_length_exceeded", param: "messages" });
}

/** What follows an answer, without the end token that the model has written itself. */
function withoutEnd({ tokenizer }: TokenPolicy, call: Call | undefined, follows: string): string {
  const last = call?.completion.at(-1)?.ids.at(-1);
  if (last === undefined || !tokenizer.endIds.includes(last)) return follows;
  const endings = tokenizer.endIds.map((id) => tokenizer.decode([id]));
  const end = endings.find((text) => text !== "" && follows.startsWith(text)) ?? "";
  return follows.slice(end.length);
}

/** Templates write arguments as JSON themselves. */
function withParsedCalls(message: WireMessage): TemplateMessage {
  if (message.tool_calls === undefined) return message;
  const calls = message.tool_calls.map((call) => {
    try {
      const given = JSON.parse(call.function.arguments) as unknown;
      return { ...call, function: { ...call.function, arguments: given } };
    } catch {
      return call;
    }
  });
  return { ...message, tool_calls: calls };
}

function segment(owner: Segment["owner"], ids: number[]): Segment {
  return { owner, ids, logprobs: null };
}

/** Models read tokens alone. */
const NO_TASK: Task = { id: "", question: "", references: [], source: "", annotations: {} };
