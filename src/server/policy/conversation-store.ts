import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import type { Conversation } from "../../rollout/served/conversation.ts";
import type { RequestOrigin } from "../../rollout/served/openai-api.ts";
import { ServedError } from "../../rollout/served/served-error.ts";

/** Conversations that have not ended yet. */
export interface ConversationStore {
  /** The conversation of a request: by its id, else the one that its messages continue, else a new one. */
  of(id: string | null, request: RequestOrigin): Conversation;
  /** @throws {ServedError} 404 */
  get(id: string): Conversation;
  /** Ends a conversation and records it. @throws {ServedError} 404 */
  reward(id: string, reward: number): Promise<Conversation>;
  readonly open: number;
  /** Conversations that got a reward, and those that were dropped without one because others needed the space. */
  readonly counts: Readonly<{ rewarded: number; dropped: number }>;
}

/** Recorded tokens of all open conversations: some 300 MB. */
const MOST_TOKENS = 2 ** 25;

/**
 * @param open begins a conversation.
 * @param options.most open ones at once; beyond it, or beyond `mostTokens` of all, the least recently used is dropped.
 * @param options.record file for ended conversations, one line of JSON each; null: none.
 */
export function conversationStore(
  open: (id: string) => Conversation,
  {
    most,
    mostTokens = MOST_TOKENS,
    record,
  }: { most: number; mostTokens?: number; record: string | null },
): ConversationStore {
  /** The most recently used is last. */
  const known = new Map<string, Conversation>();
  const anonymous = new Set<string>();
  const counts = { rewarded: 0, dropped: 0 };
  const forget = (id: string): void => {
    known.get(id)?.end();
    known.delete(id);
    anonymous.delete(id);
  };
  const used = (conversation: Conversation): Conversation => {
    known.delete(conversation.id);
    known.set(conversation.id, conversation);
    let tokens = 0;
    for (const each of known.values()) tokens += each.tokens;
    for (const [oldest, { tokens: own }] of known) {
      if (known.size === 1 || (known.size <= most && tokens <= mostTokens)) break;
      tokens -= own;
      forget(oldest);
      counts.dropped += 1;
    }
    return conversation;
  };
  const continued = (request: RequestOrigin): Conversation | null => {
    let best: { conversation: Conversation | null; length: number } = {
      conversation: null,
      length: 0,
    };
    for (const id of anonymous) {
      const conversation = known.get(id);
      const length = conversation === undefined ? 0 : request.shared(conversation);
      if (conversation !== undefined && length > best.length) best = { conversation, length };
    }
    return best.conversation;
  };
  const get = (id: string): Conversation => {
    const found = known.get(id);
    if (found !== undefined) return found;
    throw new ServedError(
      404,
      `There is no open conversation ${JSON.stringify(id)}: it was never begun, has its reward already, or was dropped.`,
      { code: "conversation_not_found", param: "conversation" },
    );
  };
  return {
    of(id, request) {
      if (id !== null) return used(known.get(id) ?? open(id));
      const found = continued(request);
      if (found !== null) return used(found);
      const begun = open(`conv-${randomUUID()}`);
      anonymous.add(begun.id);
      return used(begun);
    },
    get,
    async reward(id, reward) {
      const conversation = get(id);
      forget(id);
      counts.rewarded += 1;
      const line = JSON.stringify({ conversation: id, reward, calls: conversation.calls });
      if (record !== null) await appendFile(record, `${line}\n`);
      return conversation;
    },
    get open() {
      return known.size;
    },
    counts,
  };
}
