import { seedFrom } from "../base/random.ts";
import type { SampleResult } from "../engine/engine.ts";
import { budgetOf } from "../env/budget.ts";
import type { Call, CallFinish, Segment } from "../trajectory/trajectory.ts";
import type {
  Dialogue,
  DialogueSetting,
  Interject,
  Message,
  MessagePart,
  Input,
} from "./dialogue.ts";
import { emptyDraft, type Prefill, splitPrefill } from "./draft.ts";
import type { Policy, TokenPolicy } from "./policy.ts";
import { recordedTemperature } from "./sampling.ts";

/** Longest message without a turn budget, in tokens. */
export const DEFAULT_TURN_TOKENS = 500;

/** Opens a conversation. */
export function openDialogue(policy: Policy, setting: DialogueSetting): Dialogue {
  return "open" in policy ? policy.open(setting) : tokenDialogue(policy, setting);
}

/** `opening`: the first prompt; null before it. */
type Place = { last: number | null; messages: number; opening: Segment[] | null };

/** A dialogue with a model whose tokens we sample and keep; a message is cut at whole tokens, including the one with the cut. */
function tokenDialogue(
  policy: TokenPolicy,
  setting: DialogueSetting,
  from: Place = { last: null, messages: 0, opening: null },
): Dialogue {
  const place = { ...from };
  return {
    async write(inputs, signal, interject = () => null, part) {
      signal.throwIfAborted();
      const ended = place.last !== null && endedByToken(policy, setting, place.last);
      const { read, prefill } = splitPrefill(inputs);
      const added = segmentsOf(policy, read, ended);
      place.opening ??= added;
      const ids = prefill.map((each) => policy.tokenizer.encode(each));
      const begun = { text: part?.text ?? prefill.join(""), ids };
      const writing = { policy, setting, place, interject, signal, part };
      const message = await writeMessage(writing, added, begun);
      if (message === null) return null;
      place.last = message.call;
      place.messages += 1;
      return message;
    },
    give(inputs, { text, owner }) {
      const ended = place.last !== null && endedByToken(policy, setting, place.last);
      const prompt = segmentsOf(policy, inputs, ended);
      place.opening ??= prompt;
      setting.calls.push({
        parent: place.last,
        role: policy.role,
        policyVersion: policy.version,
        prompt,
        completion: [segment(owner, policy.tokenizer.encode(text))],
        finish: "stop",
      });
      place.last = setting.calls.length - 1;
      place.messages += 1;
      return place.last;
    },
    rewrite(text) {
      const call = place.last === null ? undefined : setting.calls[place.last];
      if (call === undefined) return;
      call.completion = [segment("policy", policy.tokenizer.encode(text))];
      // What an engine keeps of the sequence ends with the tokens that were sampled.
      policy.end(setting.id);
    },
    fork: (branch) => tokenDialogue(policy, { ...setting, ...branch }, place),
    end: () => {
      policy.end(setting.id);
    },
  };
}

function endedByToken(policy: TokenPolicy, { calls }: DialogueSetting, call: number): boolean {
  const last = calls[call]?.completion.at(-1)?.ids.at(-1);
  return last !== undefined && policy.tokenizer.endIds.includes(last);
}

function segmentsOf(policy: TokenPolicy, inputs: readonly Input[], ended: boolean): Segment[] {
  const { tokenizer, rendering } = policy;
  return inputs.flatMap(
    ({ owner, text, ids, withheld = [], maxTokens = Infinity, observations = [] }) => {
      if (owner === "template") return promptSegments(policy, text, withheld);
      const bare = rendering?.wrapsResults === true && observations.length > 0;
      const shown = bare
        ? tokenizer.encode(observations.map((each) => each.text).join("\n\n"))
        : (ids ?? tokenizer.encode(text));
      const { before, after } = rendering?.around(ended) ?? { before: "", after: "" };
      return [
        segment("template", tokenizer.encode(before)),
        segment(owner, shown.slice(0, maxTokens)),
        ...withheld.map((each) => segment("inserted", tokenizer.encode(each))),
        segment("template", tokenizer.encode(after)),
      ].filter(({ owner: of, ids }) => of === owner || ids.length > 0);
    },
  );
}

/** A rendered prompt; hidden hints are separate segments, so that the rest is unchanged without them. */
function promptSegments(
  { tokenizer, rendering }: TokenPolicy,
  text: string,
  withheld: readonly string[],
): Segment[] {
  const rendered = rendering?.opening(text) ?? text;
  if (withheld.length === 0) return [segment("template", tokenizer.encodeStart(rendered))];
  const { before, trimmed, after } = aroundEndOf(text, rendered);
  const hints = withheld.map((each, i) => (i === 0 ? trimmed + each : each));
  return [
    segment("template", tokenizer.encodeStart(before)),
    ...hints.map((each) => segment("inserted", tokenizer.encode(each))),
    segment("template", tokenizer.encode(after)),
  ].filter(({ ids }) => ids.length > 0);
}

/** A rendered prompt up to the end of its text, the space there that a template trimmed, and what it puts after it. */
function aroundEndOf(text: string, rendered: string) {
  const body = text.trim();
  const end = rendered.lastIndexOf(body) + body.length;
  const space = text.slice(text.trimEnd().length);
  const isTrimmed = !rendered.startsWith(space, end);
  const at = isTrimmed ? end : end + space.length;
  const trimmed = isTrimmed ? space : "";
  return { before: rendered.slice(0, at), trimmed, after: rendered.slice(at) };
}

interface Writing {
  policy: TokenPolicy;
  setting: DialogueSetting;
  place: Place;
  interject: Interject;
  signal: AbortSignal;
  part: MessagePart | undefined;
}

async function writeMessage(
  { policy, setting, place, interject, signal, part: within }: Writing,
  added: Segment[],
  prefill: Prefill,
): Promise<Message | null> {
  const { budgets, calls, sampling, ending, task, turns } = setting;
  const { messages } = place;
  const turnTokens = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const shown = shownPrompt(setting, policy, { place, added, prefill });
  const space = shown.room - shown.ids.length - prefill.ids.flat().length;
  if (space < 1) return null;
  const draft = emptyDraft(policy.tokenizer, ending, prefill);
  const left = Math.min(turnTokens - (within?.tokens ?? 0), space);
  const limit = Math.min(left, within?.most ?? Infinity);
  let finish: CallFinish = "stop";
  // What was put into the message is part of it.
  const room = (): number => limit - (draft.ids().length - prefill.ids.flat().length);
  let begun = 0;
  for (let part = 0; !draft.isWhole(); part++) {
    const result = await policy.complete({
      promptIds: [...shown.ids, ...draft.ids()],
      maxTokens: room(),
      ...sampling,
      stopIds: [...policy.tokenizer.endIds],
      stopStrings: ending.stopStrings,
      seed: part === 0 ? seedFrom(setting.seed, messages) : seedFrom(setting.seed, messages, part),
      sequence: setting.id,
      task,
      turns,
      written: draft.text().slice(begun),
    });
    finish = finishOf(result, draft.write(result), space < turnTokens);
    // It stopped where nothing ends.
    if (ending.resumes === true && result.finish === "stop" && !draft.isWhole()) {
      if (room() > 0) continue;
      finish = space < turnTokens ? "context" : "length";
      break;
    }
    const put = interject(draft.text(), draft.put());
    if (put === null || !draft.interrupt(put, limit)) break;
    begun = draft.text().length;
    if (draft.isWhole()) finish = "stop";
    signal.throwIfAborted();
  }
  calls.push({
    parent: shown.parent,
    role: policy.role,
    policyVersion: policy.version,
    prompt: shown.prompt,
    completion: draft.segments(),
    finish,
    ...recordedTemperature(sampling),
    cut: shown.cut,
  });
  const isUnfinished = finish === "length" && limit < left;
  return { text: draft.text(), call: calls.length - 1, put: draft.put(), isUnfinished };
}

interface ShownPrompt {
  /** The call that it continues; null for a new prompt. */
  parent: number | null;
  prompt: Segment[];
  cut?: true;
  /** Of the whole sequence so far. */
  ids: number[];
  room: number;
}

function shownPrompt(
  { budgets, calls }: DialogueSetting,
  policy: TokenPolicy,
  { place, added, prefill }: { place: Place; added: Segment[]; prefill: Prefill },
): ShownPrompt {
  const { last, opening } = place;
  const turnTokens = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const context = budgetOf(budgets, "context");
  const room = Math.min(context?.limit ?? Infinity, policy.maxPositions - 1);
  const all = [...(last === null ? [] : sequenceSegments(calls, last)), ...added];
  const ids = all.flatMap((each) => each.ids);
  // A whole message must fit, or half of a shorter context.
  const most = room - Math.min(turnTokens, Math.floor(room / 2));
  const keepsOpening = context?.onExhausted === "drop-middle";
  const drops = keepsOpening ? last !== null : context?.onExhausted === "drop-oldest";
  if (!drops || ids.length + prefill.ids.flat().length <= most)
    return { parent: last, prompt: added, ids, room };
  // A prompt built anew, recorded as the policy saw it.
  const left = Math.max(1, most - prefill.ids.flat().length);
  const kept = keepsOpening ? (opening ?? []) : [];
  const prompt = [...kept, ...newestTokens(all, Math.min(left, ids.length) - tokensOf(kept))];
  return { parent: null, prompt, cut: true, ids: prompt.flatMap((each) => each.ids), room };
}

function tokensOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { ids }) => sum + ids.length, 0);
}

/** All segments of a call's sequence as a prompt; hidden hints stay hidden. */
function sequenceSegments(calls: readonly Call[], last: number): Segment[] {
  const segments: Segment[] = [];
  for (let at: number | null = last; at !== null; at = calls[at]?.parent ?? null) {
    const { prompt = [], completion = [] } = calls[at] ?? {};
    const written = completion.map(({ ids }) => segment("template", ids));
    segments.unshift(...prompt, ...written);
  }
  return segments;
}

function newestTokens(segments: readonly Segment[], count: number): Segment[] {
  const newest: Segment[] = [];
  let left = count;
  for (const { owner, ids: all } of segments.toReversed()) {
    if (left <= 0) break;
    const ids = all.slice(Math.max(0, all.length - left));
    left -= ids.length;
    const of = owner === "inserted" ? owner : "template";
    const next = newest[0];
    if (next?.owner === of) next.ids = [...ids, ...next.ids];
    else newest.unshift(segment(of, ids));
  }
  return newest;
}

function finishOf({ finish, ids }: SampleResult, kept: number, cramped: boolean): CallFinish {
  if (kept < ids.length) return "stop";
  return finish === "length" && cramped ? "context" : finish;
}

function segment(owner: Segment["owner"], ids: number[]): Segment {
  return { owner, ids, logprobs: null };
}
