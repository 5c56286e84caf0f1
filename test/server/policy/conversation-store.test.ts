import { expect, it } from "vitest";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { openConversation } from "../../../src/rollout/served/conversation.ts";
import { plainTemplate } from "../../../src/rollout/served/message-keys.ts";
import { conversationStore } from "../../../src/server/policy/conversation-store.ts";
import { tokenizer } from "../../helpers/search-world.ts";

it("drops the least recently used conversation when all together hold too many tokens, never the one in use", async () => {
  const policy = scriptedPolicy(tokenizer, () => "a");
  const store = conversationStore(
    (id) => openConversation({ id, seed: 0, policy, template: plainTemplate, keepsCache: false }),
    { most: 100, mostTokens: 500, record: null },
  );
  const ask = async (id: string, text: string): Promise<void> => {
    const conversation = store.of(id, { user: null, shared: () => 0 });
    await conversation.complete(text, {
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTokens: 1,
      stop: [],
      keepStop: false,
      seed: null,
    });
  };
  await ask("one", "a ".repeat(100));
  await ask("two", "a ".repeat(100));
  expect(store.open).toBe(2);
  await ask("three", "a ".repeat(1000));
  await ask("three", "a");
  expect(store.open).toBe(1);
  expect(store.get("three").calls).toHaveLength(2);
  expect(store.counts.dropped).toBe(2);
});
