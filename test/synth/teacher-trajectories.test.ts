import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/files.ts";
import { packageRoot } from "../../src/base/package-root.ts";
import { budgetsSchema } from "../../src/env/budget.ts";
import { teacherTrajectories, worldStreamSchema } from "../../src/synth/teacher-trajectories.ts";
import { type Behaviour, behaviourSchema } from "../../src/synth/teachers/behaviour.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "../helpers/all-parts.ts";

/** As recipes/literate.yaml and recipes/base-policy.yaml have them. */
const ENVIRONMENT = { protocol: "search-r1", tools: [{ name: "corpus-search", topK: 2 }] };
const budgets = budgetsSchema.parse([
  { scope: "trajectory", unit: "turns", limit: 8, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 48, onExhausted: "cut" },
  { scope: "observation", unit: "tokens", limit: 120, onExhausted: "cut" },
]);
const WORLDS = worldStreamSchema.parse({
  split: "base",
  people: 300,
  variants: [
    { passages: "entity" },
    { passages: "fact", mix: { bridge1: 0.25, bridge2: 0.35, bridge3: 0.25, bridge4: 0.15 } },
  ],
});
const ONE_HOP = { bridge2: 0, bridge3: 0, comparison: 0, yesNo: 0 };
const ORACLE = behaviourSchema.parse({ reword: 0.85 });
const MIXTURE = behaviourSchema.parse({
  search: 0.45,
  continue: 0.48,
  fullQuery: 0.9,
  reword: 0.45,
  retry: 0.55,
});

/** Hash of the recipe's first trajectories under a behaviour, from a number on. */
async function streamHash(behaviour: Behaviour, from: number, count: number): Promise<string> {
  const stream = teacherTrajectories(
    {
      worlds: WORLDS,
      tokenizer: await loadTokenizer(join(packageRoot, "datasets", "base-policy")),
      environmentOver: (retriever) =>
        environments.get("search-qa", "test").create(ENVIRONMENT, { retriever, budgets }),
      seed: 1,
      signal: new AbortController().signal,
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
  it("is, to the byte, the stream that the shipped policies were made from", async () => {
    expect(await streamHash(ORACLE, 0, 300)).toBe(
      "79b65ee9738a9d5d8152ce78123317acbcc5fadc5e5a8ffd7b8109cfe71d2d17",
    );
    expect(await streamHash(MIXTURE, 0, 300)).toBe(
      "5b8fc0b36b95d67d09a42552eec9cfff6da3f3e0345d7de63a61d69b077f527f",
    );
  });

  it("asks about the world known by heart, answered from memory, and looks up other questions", async () => {
    const variant = { known: 0.5, mix: { ...ONE_HOP, bridge1: 1 } };
    const worlds = { split: "dev", people: 40, direct: 0, rag: 0, variants: [variant] };
    const stream = teacherTrajectories(
      {
        worlds: worldStreamSchema.parse(worlds),
        tokenizer: await loadTokenizer(join(packageRoot, "datasets", "base-policy")),
        environmentOver: (retriever) =>
          environments.get("search-qa", "test").create(ENVIRONMENT, { retriever, budgets }),
        seed: 1,
        signal: new AbortController().signal,
      },
      behaviourSchema.parse({}),
      0,
    );
    const seen: string[] = [];
    for await (const { groupId, turns } of stream) {
      const how = turns.length === 1 ? "from memory" : "searched";
      seen.push(`${groupId.split("-")[1] ?? ""} ${how}`);
      if (seen.length === 40) break;
    }
    expect(new Set(seen)).toEqual(new Set(["base from memory", "dev searched"]));
  });

  it("refuses known questions where the other worlds share the names", () => {
    const given = { split: "base", variants: [{ known: 0.5 }] };
    expect(worldStreamSchema.safeParse(given).success).toBe(false);
  });
});
