// R-Search's evidence reward and a measurement of its own. See r-search.yaml.
import {
  defineMetric,
  defineReward,
  readerPrompt,
  ROLE_REPLY,
  roleName,
  tokenF1,
  z,
} from "agentrl";

const DEFAULT_BLOCK = "original_evidence";

/**
 * What the policy wrote in its last closed block of a tag; null: nothing.
 * @param {import("agentrl").Trajectory} trajectory
 */
function lastBlock({ turns }, tag) {
  const text = turns.map((turn) => turn.text).join("\n");
  const blocks = [...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, "gs"))];
  return blocks.at(-1)?.[1].trim() ?? null;
}

export default [
  defineReward({
    name: "reader-answer",
    summary: "F1 of the answer that another model gives from the policy's evidence alone.",
    source: "R-Search, arXiv 2506.04185, section 3",
    range: [0, 1],
    options: z.strictObject({
      /** The model that reads the evidence: frozen, of another family. */
      role: roleName(),
      block: z.string().default(DEFAULT_BLOCK),
    }),
    async score({ trajectory, task }, { role, block }, { roles, cache, signal }) {
      const evidence = lastBlock(trajectory, block);
      if (evidence === null) return 0;
      const { question, references } = task;
      const prompt = readerPrompt({ question, passages: [{ title: "", text: evidence }] });
      const reader = roles.get(role, "rewards: reader-answer.role");
      const asked = { maxTokens: 16, stop: [ROLE_REPLY.closing], signal };
      const answer = await cache.get(prompt, () => reader.complete(prompt, asked));
      return tokenF1(answer, references);
    },
  }),
  defineMetric({
    name: "evidence-words",
    summary: "Words of the evidence that the policy wrote down.",
    range: [0, Infinity],
    options: z.strictObject({ block: z.string().default(DEFAULT_BLOCK) }),
    score: ({ trajectory }, { block }) =>
      lastBlock(trajectory, block)?.split(/\s+/).filter(Boolean).length ?? 0,
  }),
];
