import { seedFrom } from "../base/random.ts";
import type { SampleResult } from "../engine/engine.ts";
import { budgetOf } from "../env/budget.ts";
import { sequenceIds } from "../trajectory/token-rows.ts";
import type { CallFinish, Segment } from "../trajectory/trajectory.ts";
import type { Dialogue, DialogueSetting, Interject, Message, Said } from "./dialogue.ts";
import { emptyDraft } from "./draft.ts";
import type { TokenPolicy } from "./policy.ts";

/** Longest message where the environment sets no budget for a turn, in tokens. */
export const DEFAULT_TURN_TOKENS = 500;

/** Where a dialogue stands. */
interface Place {
  /** Index of its last call; null before the first. */
  last: number | null;
  /** Messages written. */
  messages: number;
}

/**
 * A dialogue with a model whose tokens are ours. Ids are kept as sampled; a message is cut at whole tokens through the one that
 * closes the cut.
 */
export function tokenDialogue(
  policy: TokenPolicy,
  setting: DialogueSetting,
  from: Place = { last: null, messages: 0 },
): Dialogue {
  const place = { ...from };
  return {
    async write(said, signal, interject = () => null) {
      signal.throwIfAborted();
      const ended = place.last !== null && endedByToken(policy, setting, place.last);
      const added = segmentsOf(policy, said, ended);
      const message = await writeMessage({ policy, setting, place, interject, signal }, added);
      if (message === null) return null;
      place.last = message.call;
      place.messages += 1;
      return message;
    },
    fork: ({ id, seed }) => tokenDialogue(policy, { ...setting, id, seed }, place),
    end: () => {
      policy.end(setting.id);
    },
  };
}

/** Whether the model closed its last message itself. */
function endedByToken(policy: TokenPolicy, { calls }: DialogueSetting, call: number): boolean {
  const last = calls[call]?.completion.at(-1)?.ids.at(-1);
  return last !== undefined && policy.tokenizer.endIds.includes(last);
}

function segmentsOf(policy: TokenPolicy, said: readonly Said[], ended: boolean): Segment[] {
  const { tokenizer, rendering } = policy;
  return said.flatMap(({ owner, text, maxTokens = Infinity, observations = [] }): Segment[] => {
    const bare = rendering?.wrapsResults === true && observations.length > 0;
    const shown = bare ? observations.map((each) => each.text).join("\n\n") : text;
    const encoded = tokenizer.encode(shown).slice(0, maxTokens);
    if (owner === "inserted") return [segment(owner, encoded)];
    if (owner === "template") {
      return [segment(owner, tokenizer.encodeStart(rendering?.opening(text) ?? text))];
    }
    const { before, after } = rendering?.around(ended) ?? { before: "", after: "" };
    return [
      segment("template", tokenizer.encode(before)),
      segment(owner, encoded),
      segment("template", tokenizer.encode(after)),
    ].filter(({ owner: of, ids }) => of === owner || ids.length > 0);
  });
}

interface Writing {
  policy: TokenPolicy;
  setting: DialogueSetting;
  place: Place;
  interject: Interject;
  signal: AbortSignal;
}

/** Asks the policy for a message and records the call. @returns null when the context is full. */
async function writeMessage(
  { policy, setting, place: { last, messages }, interject, signal }: Writing,
  added: Segment[],
): Promise<Message | null> {
  const { budgets, calls, sampling, ending, task, turns } = setting;
  const turnTokens = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const context = budgetOf(budgets, "context");
  const room = Math.min(context?.limit ?? Infinity, policy.maxPositions - 1);
  let parent = last;
  let prompt = added;
  let promptIds = [
    ...(parent === null ? [] : sequenceIds(calls, parent)),
    ...added.flatMap(({ ids }) => ids),
  ];
  // A whole message must fit, or half of a context that is not even that long.
  const shown = room - Math.min(turnTokens, Math.floor(room / 2));
  if (context?.onExhausted === "drop-oldest" && promptIds.length > shown) {
    // The policy sees the newest tokens only: a prompt built anew, recorded as it was seen.
    promptIds = promptIds.slice(-shown);
    parent = null;
    prompt = [segment("template", promptIds)];
  }
  const space = room - promptIds.length;
  if (space < 1) return null;
  const draft = emptyDraft(policy.tokenizer, ending);
  const limit = Math.min(turnTokens, space);
  let finish: CallFinish = "length";
  for (let part = 0; ; part++) {
    const left = limit - draft.ids().length;
    // What was put into the message may have used the budget up.
    if (left < 1) break;
    const result = await policy.complete({
      ...{ promptIds: [...promptIds, ...draft.ids()], maxTokens: left, ...sampling },
      stopIds: [...policy.tokenizer.endIds],
      stopStrings: ending.stopStrings,
      seed: part === 0 ? seedFrom(setting.seed, messages) : seedFrom(setting.seed, messages, part),
      sequence: setting.id,
      ...{ task, turns },
    });
    const kept = draft.write(result);
    finish = finishOf(result, kept, space < turnTokens);
    const put = interject(draft.text());
    if (put === null) break;
    draft.interrupt(put);
    finish = space < turnTokens ? "context" : "length";
    signal.throwIfAborted();
  }
  calls.push({
    ...{ parent, role: policy.role, policyVersion: policy.version, prompt },
    ...{ completion: draft.segments(), finish },
  });
  return { text: draft.text(), call: calls.length - 1 };
}

function finishOf({ finish, ids }: SampleResult, kept: number, cramped: boolean): CallFinish {
  if (kept < ids.length) return "stop";
  return finish === "length" && cramped ? "context" : finish;
}

function segment(owner: Segment["owner"], ids: number[]): Segment {
  return { owner, ids, logprobs: null };
}
