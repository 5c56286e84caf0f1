import { anyTag, type Protocol, type ProtocolTag, tagOf } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { Call, Observation, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";

/** A tool call, removed from a message's text. */
export type MessageCall = { id: string; name: string; arguments: Record<string, unknown> };

/** A message of a trajectory's conversation. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  /** For the assistant exactly what the policy wrote, without its calls if these are in `calls`. */
  content: string;
  reasoning?: string;
  calls?: MessageCall[];
  /** For a tool's result: the call that it answers, and the tool's name. */
  callId?: string;
  name?: string;
  turn?: number;
}

/** How trajectories become conversations. */
export interface Telling {
  textOf: (segment: Segment) => string;
  /** Splits a first prompt that was rendered by the teacher's chat template. */
  promptOf: (text: string) => { system: string | null; user: string };
  /** Whether messages keep inserted hints; hints in prompts are always removed. */
  hints: "keep" | "remove";
  /** `text`: messages stay as written, and observations are user messages. `native`: tool_calls and tool messages. */
  calls: "text" | "native";
  protocol: Protocol;
  tools: readonly ToolSchema[];
}

/** A trajectory's main line as conversations: one, or one for each prompt that no other call continues; without drafts and other roles. */
export function conversationsOf(trajectory: Trajectory, telling: Telling): Message[][] {
  const { calls, turns } = trajectory;
  const main = new Map(
    turns.flatMap((turn, i) =>
      turn.chain === undefined ? [[turn.call, { turn, i }] as const] : [],
    ),
  );
  const chains = [...main.keys()]
    .map((call) => chainTo(calls, call))
    .filter((chain, _, all) => !all.some((other) => other !== chain && continues(other, chain)));
  return chains.map((chain) =>
    chain.flatMap((index) => {
      const call = calls[index];
      const { turn, i } = main.get(index) ?? {};
      if (call === undefined) return [];
      const answered = call.parent === null ? undefined : main.get(call.parent);
      return [
        ...promptMessages(call, answered, telling),
        ...assistantMessage(call, { turn, index, number: i }, { trajectory, telling }),
      ];
    }),
  );
}

function chainTo(calls: readonly Call[], index: number): number[] {
  const chain: number[] = [];
  for (let at: number | null = index; at !== null; at = calls[at]?.parent ?? null)
    chain.unshift(at);
  return chain;
}

function continues(longer: readonly number[], chain: readonly number[]): boolean {
  return longer.length > chain.length && chain.every((call, i) => longer[i] === call);
}

function promptMessages(
  { parent, prompt }: Call,
  answered: { turn: Turn; i: number } | undefined,
  { textOf, promptOf, calls, tools }: Telling,
): Message[] {
  const shown = prompt.filter(({ owner }) => owner !== "inserted");
  if (parent === null) {
    const { system, user } = promptOf(shown.map(textOf).join(""));
    return [
      ...(system === null ? [] : [{ role: "system", content: system } satisfies Message]),
      { role: "user", content: user },
    ];
  }
  // The trainer's chat template adds its own wrapping again, so it is removed here.
  const reply = shown
    .filter(({ owner }) => owner === "environment")
    .map(textOf)
    .join("");
  const observations = answered?.turn.observations ?? [];
  if (calls === "text" || observations.length === 0 || answered === undefined)
    return [{ role: "user", content: reply }];
  const split = splitCalls(answered.turn.text, tools);
  if (split?.calls.length !== observations.length) return [{ role: "user", content: reply }];
  return shownResults(observations, reply).map((content, k) => ({
    role: "tool",
    content,
    callId: callId(answered.i, k),
    name: observations[k]?.tool ?? "",
  }));
}

function shownResults(observations: readonly Observation[], reply: string): string[] {
  let from = 0;
  return observations.map(({ text }) => {
    const at = reply.indexOf(text, from);
    if (at >= 0) {
      from = at + text.length;
      return text;
    }
    for (let cut = from; cut < reply.length; cut++)
      if (text.startsWith(reply.slice(cut))) return reply.slice(cut);
    return "";
  });
}

function assistantMessage(
  call: Call,
  { turn, index, number }: { turn: Turn | undefined; index: number; number: number | undefined },
  { trajectory, telling }: { trajectory: Trajectory; telling: Telling },
): Message[] {
  const { textOf, hints, protocol } = telling;
  const own = (trajectory.hints ?? []).filter((hint) => hint.call === index);
  const say = (segment: Segment): string => {
    const text = textOf(segment);
    if (segment.owner !== "inserted" || hints === "keep") return text;
    const hint = own.find((each) => each.text !== "" && text.endsWith(each.text));
    if (hint === undefined) return text;
    return text.slice(0, text.length - hint.text.length) + halfPairs(hint.text, protocol.tags);
  };
  const segments = [...openingOf(call, turn, textOf), ...call.completion];
  const behind = lengthBehind(segments.map(textOf).join(""), turn);
  const said = segments.map(say).join("");
  const text = said.slice(0, said.length - behind);
  const message: Message = {
    role: "assistant",
    content: text,
    reasoning: call.reasoning,
    turn: number,
  };
  const split =
    telling.calls === "native" && number !== undefined ? splitCalls(text, telling.tools) : null;
  if (split === null || split.calls.length === 0) return [message];
  const calls = split.calls.map(({ name, given }, k): MessageCall => {
    const id = callId(number ?? 0, k);
    return { id, name, arguments: given ?? { [argumentOf(name, telling.tools)]: split.inputs[k] } };
  });
  return [{ ...message, content: split.content, calls }];
}

/** Characters that the last token wrote after the message's end, where the protocol cut it. */
function lengthBehind(written: string, turn: Turn | undefined): number {
  return turn !== undefined && turn.text !== "" && written.startsWith(turn.text)
    ? written.length - turn.text.length
    : 0;
}

/** The tags of a removed hint whose partner is in the policy's text: "<think> Wait" opens what the policy closes. */
function halfPairs(hint: string, tags: readonly ProtocolTag[]): string {
  const left: string[] = [];
  for (const [mark] of hint.matchAll(new RegExp(anyTag(tags), "g"))) {
    const tag = tagOf(mark, tags);
    if (tag === undefined) continue;
    if (mark === tag.closing && left.at(-1) === tag.opening) left.pop();
    else left.push(mark);
  }
  return left.join("");
}

function openingOf(
  { prompt, completion }: Call,
  turn: Turn | undefined,
  textOf: (segment: Segment) => string,
): Segment[] {
  const last = prompt.findLastIndex(({ owner }) => owner !== "inserted");
  const put = prompt.slice(last + 1);
  const written = completion.map(textOf).join("");
  for (let from = 0; from < put.length; from++) {
    const begun = put.slice(from);
    const text = begun.map(textOf).join("") + written;
    if (turn === undefined || (turn.text !== "" && text.startsWith(turn.text))) return begun;
  }
  return [];
}

interface SplitMessage {
  content: string;
  calls: { name: string; given: Record<string, unknown> | null }[];
  inputs: string[];
}

/** A message without its calls, and its calls (JSON between tool_call tags, or a tool's first pair of tags); null: no call can be removed. */
function splitCalls(text: string, tools: readonly ToolSchema[]): SplitMessage | null {
  const json = [...text.matchAll(/<tool_call>(.*?)<\/tool_call>/gs)];
  if (json.length > 0) {
    const calls = json.map(([, body = ""]) => readCall(body));
    if (calls.includes(null)) return null;
    const content = text.slice(0, text.indexOf("<tool_call>")).trimEnd();
    return { content, calls: calls.filter((each) => each !== null), inputs: [] };
  }
  const names = tools.map(({ function: { name } }) => name.replace(/\W/g, "\\$&")).join("|");
  const tag = new RegExp(`<(${names})>(.*?)</\\1>`, "s").exec(text);
  if (tag === null) return null;
  const [, name = "", input = ""] = tag;
  return {
    content: text.slice(0, tag.index),
    calls: [{ name, given: null }],
    inputs: [input.trim()],
  };
}

function readCall(body: string): SplitMessage["calls"][number] | null {
  try {
    const { name, arguments: given } = JSON.parse(body) as { name: unknown; arguments?: unknown };
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    return typeof name === "string" && isObject
      ? { name, given: given as Record<string, unknown> }
      : null;
  } catch {
    return null;
  }
}

function argumentOf(tool: string, tools: readonly ToolSchema[]): string {
  const schema = tools.find(({ function: { name } }) => name === tool)?.function;
  return Object.keys((schema?.parameters["properties"] as object | undefined) ?? {})[0] ?? "query";
}

function callId(turn: number, call: number): string {
  return `call_${turn}_${call}`;
}
