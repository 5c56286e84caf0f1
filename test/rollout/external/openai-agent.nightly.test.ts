import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openPolicyEngine } from "../../../src/engine/open-engine.ts";
import { openNamedDataset, policyFolder, retrieverOver } from "../../../src/run/assemble.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { parseSet } from "../../../src/run/settings/settings.ts";
import { recomputeLogprobs } from "../../../src/rollout/recomputed-logprobs.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { serveForTest } from "../../helpers/serve.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

/** The example, which knows of the OpenAI SDK and a search server alone. */
const AGENT = "strategy={name: external, command: [node, examples/openai-agent/agent.mjs]}";

const smoke = (...sets: string[]) =>
  resolveRecipe("search-r1", { tier: "smoke", overrides: sets.map(parseSet) });

it("trains the policy of an agent written with the OpenAI SDK", async () => {
  const { settings: own } = await smoke();
  const dataset = await openNamedDataset(own.dataset, own.environment);
  const searches = await serveForTest(await retrieverOver(dataset, own, "training"));
  process.env.SEARCH_URL = `${searches.url}/retrieve`;
  const trained = await smoke(
    ...[AGENT, "evaluation.dataset.questions=4", "engine.workers=1"],
    "algorithm.optimizer.learningRate=0.01",
  );
  const out = temporaryFolder();
  await runRecipe(trained, { out, version: "0", signal: new AbortController().signal });
  const stepOf = (step: number): Trajectory[] =>
    readFileSync(join(out, "trajectories", `step-${step}.jsonl`), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Trajectory);
  const rows = stepOf(1);
  expect(rows).toHaveLength(16);
  expect(rows.map(({ error }) => error)).toEqual(rows.map(() => undefined));
  // Searches continue the call before them; none is a new prompt.
  const parents = rows.flatMap(({ calls }) => calls.map(({ parent }, i) => [parent, i]));
  for (const [parent, i] of parents) expect(parent).toBe(i === 0 ? null : i! - 1);
  expect(rows.some(({ turns }) => turns.some(({ observations }) => observations.length > 0))).toBe(
    true,
  );
  // What was recorded while the agent talked is what the weights say about the tokens that are trained on.
  const engine = await openPolicyEngine({ model: await policyFolder("base"), trains: false });
  try {
    const far = async (step: number): Promise<{ tokens: number; largest: number }> => {
      const drawn = stepOf(step);
      const { capabilities } = engine;
      const policyVersion = drawn[0]?.calls[0]?.policyVersion ?? 0;
      const again = recomputeLogprobs(
        { capabilities, policyVersion, logprobs: (...of) => engine.logprobs(...of) },
        { tolerance: 1, onDrift: () => undefined },
      );
      for (const row of drawn) await again.add(row.id, row);
      return again.finish();
    };
    const first = await far(1);
    expect(first.tokens).toBeGreaterThan(200);
    expect(first.largest).toBeLessThan(1e-4);
    // The second step was drawn from other weights.
    const second = await far(2);
    expect(second.tokens).toBeGreaterThan(100);
    expect(second.largest).toBeGreaterThan(1e-2);
  } finally {
    await engine.close();
  }
}, 120_000);
