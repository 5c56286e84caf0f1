import { createHash } from "node:crypto";
import { defineRetriever, z } from "agentrl";

export default defineRetriever({
  name: "shared-words",
  summary: "Ranks passages by the number of words that they share with the query.",
  options: z.strictObject({ minLength: z.int().min(1).default(3) }),
  async open({ minLength }, { corpus }) {
    const wordsOf = (text) =>
      new Set(
        (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => word.length >= minLength),
      );
    const passages = [];
    const hash = createHash("sha256");
    for await (const passage of corpus?.() ?? []) {
      passages.push({ passage, words: wordsOf(`${passage.title} ${passage.text}`) });
      hash.update(passage.id + passage.text);
    }
    return {
      // Must change whenever the results could change.
      fingerprint: `shared-words-${minLength}-${hash.digest("hex").slice(0, 16)}`,
      search: async (queries, k) =>
        queries.map((query) => {
          const asked = [...wordsOf(query)];
          return passages
            .map(({ passage, words }) => ({
              ...passage,
              score: asked.filter((word) => words.has(word)).length,
            }))
            .sort((a, b) => b.score - a.score)
            .slice(0, k);
        }),
    };
  },
});
