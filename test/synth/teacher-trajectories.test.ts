import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/files.ts";
import { packageRoot } from "../../src/base/package-root.ts";
import { environments } from "../../src/env/environments/index.ts";
import { teacherTrajectories, worldStreamSchema } from "../../src/synth/teacher-trajectories.ts";
import { type Behaviour, behaviourSchema } from "../../src/synth/teachers/teacher-settings.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import { budgetsSchema } from "../../src/env/budget.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";

/** As recipes/base-policy.yaml has them. */
const ENVIRONMENT = {
  protocol: "search-r1",
  tools: [{ name: "corpus-search", topK: 2 }],
};
const budgets = budgetsSchema.parse([
  { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 48, onExhausted: "cut" },
  { scope: "observation", unit: "tokens", limit: 120, onExhausted: "cut" },
]);
const ORACLE = behaviourSchema.parse({});
const MIXTURE = behaviourSchema.parse({ search: 0.45, continue: 0.48, fullQuery: 0.9 });

/** Hash of the recipe's first trajectories under a behaviour, from a number on. */
async function streamHash(behaviour: Behaviour, from: number, count: number): Promise<string> {
  const stream = teacherTrajectories(
    {
      worlds: worldStreamSchema.parse({ split: "base", people: 300 }),
      tokenizer: await loadTokenizer(join(packageRoot, "datasets", "base-policy")),
      environmentOver: (retriever) =>
        environments.get("search-qa", "test").create(ENVIRONMENT, { retriever, budgets }),
      ...{ seed: 1, signal: new AbortController().signal },
    },
    behaviour,
    from,
  );
  const lines: string[] = [];
  for await (const trajectory of stream) {
    lines.push(JSON.stringify(readable(trajectory)));
    if (lines.length === count) break;
  }
  return sha256(lines.join("\n"));
}

/** All that a policy could learn from it: tokens by owner, in order, and what was made of them. */
function readable({ id, seed, calls, turns, answer, end }: Trajectory): unknown {
  const segments = calls.flatMap(({ prompt, completion }) => [...prompt, ...completion]);
  return [id, seed, segments.map(({ owner, ids }) => [owner, ids]), turns, answer, end];
}

describe("teacherTrajectories", () => {
  it("is, to the byte, the stream that the shipped base policy was made from", async () => {
    expect(await streamHash(ORACLE, 0, 300)).toBe(
      "a8034a2c7900bf77cf8dc59620adc63bef9302332b1e7d07f56e4fd708cdd0d3",
    );
    expect(await streamHash(MIXTURE, 73_600, 300)).toBe(
      "c3ffb398fae8e63b21b9ba6106d401a9ff9c34c0aad3c4ccf441d93fd3e46503",
    );
  });
});
