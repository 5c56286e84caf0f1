import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openLocalEngine } from "../../src/engine/local/local-engine.ts";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import { readSafetensors } from "../../src/models/safetensors.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import type { OnPolicyOptions } from "../../src/algorithms/algorithm.ts";
import { ppo } from "../../src/algorithms/ppo.ts";
import { updateOn } from "../../src/algorithms/update.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { formulaWeights } from "../golden/decoder/formula-weights.mjs";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { answered } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const golden = join(import.meta.dirname, "../golden/decoder");
const json = (file: string): unknown => JSON.parse(readFileSync(join(golden, file), "utf8"));

const known = json("ppo-update.json") as {
  model: string;
  vocabulary: number;
  settings: Record<string, unknown>;
  batch: { ids: number[]; parts: number[]; reward: number; sampled: number[] }[];
  losses: { policy: number; value: number }[];
};
const folder = temporaryFolder();

async function writeModel(): Promise<string> {
  const keys = {
    ...(json("common-config.json") as object),
    ...(json("configs.json") as Record<string, object>)[known.model],
    vocab_size: known.vocabulary,
  };
  const config = parseDecoderConfig(keys, "configs.json");
  const named = formulaWeights(parameterSpecs(config));
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), "test");
  const to = join(folder, "model");
  await writeCheckpoint(to, { config, weights }, { dtype: "F32", tokenizerFrom: to });
  const files = wordTokenizer({ words: ["one"], specials: ["<end>", "<pad>"] });
  await writeFile(join(to, "tokenizer.json"), JSON.stringify(files.tokenizer));
  await writeFile(join(to, "tokenizer_config.json"), JSON.stringify(files.config));
  return to;
}

/** Each message continues the one before; every other part is the policy's. */
function trajectoryOf({ ids, parts, reward, sampled }: (typeof known.batch)[number], id: string) {
  let [at, drawn] = [0, 0];
  const calls: Trajectory["calls"][number][] = [];
  for (let part = 0; part < parts.length; part += 2) {
    const [before, own] = [parts[part]!, parts[part + 1]!];
    calls.push({
      parent: part === 0 ? null : calls.length - 1,
      role: "policy",
      policyVersion: 0,
      finish: "eos",
      prompt: [{ owner: "environment", ids: ids.slice(at, at + before), logprobs: null }],
      completion: [
        {
          owner: "policy",
          ids: ids.slice(at + before, at + before + own),
          logprobs: sampled.slice(drawn, drawn + own),
        },
      ],
    });
    at += before + own;
    drawn += own;
  }
  return answered(id, { groupId: id, calls, reward, rewards: [] });
}

const engine = await openLocalEngine({ model: await writeModel(), critic: "own", workers: 2 });
afterAll(() => engine.close());

describe("two PPO updates of a batch", () => {
  it("give transformers' and torch's weights of policy and critic", async () => {
    const { metrics } = await updateOn(
      {
        algorithm: ppo,
        engine,
        rewards: [],
        seed: 1,
        options: ppo.options.parse(known.settings) as unknown as OnPolicyOptions,
      },
      0,
      known.batch.map((each, i) => trajectoryOf(each, `t${i}`)),
    );
    const mean = (of: "policy" | "value"): number =>
      known.losses.reduce((sum, each) => sum + each[of] / known.losses.length, 0);
    expect(metrics["losses/policy"]).toBeCloseTo(mean("policy"), 6);
    expect(metrics["losses/value"]).toBeCloseTo(mean("value"), 6);
    const saved = join(folder, "saved");
    await engine.save(saved, { optimizer: true });
    const expected = await readSafetensors(join(golden, "ppo-update.safetensors"));
    const found = new Map([
      ...(await tensors(saved, "policy")),
      ...(await tensors(join(saved, "critic"), "critic")),
    ]);
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [name, { data }] of expected) {
      const own = found.get(name)!;
      expect(Math.max(...data.map((each, i) => Math.abs(each - own[i]!))), name).toBeLessThan(1e-5);
    }
  });
});

async function tensors(from: string, prefix: string): Promise<[string, Float32Array][]> {
  const read = await readSafetensors(join(from, "model.safetensors"));
  return [...read].map(([name, { data }]) => [`${prefix}.${name}`, data]);
}
