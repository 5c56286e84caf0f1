import { beforeAll, describe, expect, it } from "vitest";
import { synthSteps } from "../../../src/synth/steps/index.ts";
import type { SampleGroup } from "../../../src/synth/steps/step.ts";
import { cleanWorld, type CleanWorld, resourcesOf, verdicts } from "./clean-samples.ts";
import { inAnyOrder, SPOILINGS } from "./spoilings.ts";

/** Steps that look at one sample at a time, as a careful pipeline has them. */
const GATES = [
  { name: "answered" },
  { name: "correct", by: "exact-match" },
  { name: "format", thought: "required" },
  { name: "executed" },
  { name: "searched" },
  { name: "no-leak" },
  { name: "no-copied-observation", words: 12 },
  { name: "supported" },
  { name: "most-calls" },
  { name: "repetition" },
  { name: "near-duplicate" },
  { name: "drop-repeated-calls" },
  { name: "drop-hints" },
];

const CLEAN = 400;
const SPOILED = 25;

let world: CleanWorld;
let groups: SampleGroup[];

beforeAll(async () => {
  world = await cleanWorld(CLEAN, "search-r1");
  groups = world.samples.map(({ task, candidate }) => ({ task, candidates: [candidate] }));
}, 60_000);

describe("clean samples of the tiny world", () => {
  it("are of all kinds", () => {
    expect(world.samples).toHaveLength(CLEAN);
    const kinds = world.samples.map(({ task: { annotations } }) => {
      return `${annotations.type ?? ""} ${annotations.hops ?? ""}`;
    });
    expect([...new Set(kinds)].sort()).toEqual([
      ...["bridge 1", "bridge 2", "bridge 3", "bridge 4", "comparison 2", "yes-no 2"],
    ]);
  });

  it.each(GATES)("lose none to $name", async ({ name, ...options }) => {
    const part = synthSteps.get(name, "test");
    const found = await verdicts(part, groups, { options, resources: resourcesOf(world) });
    const lost = [...found].filter(([, reason]) => reason !== null);
    expect(lost).toEqual([]);
    expect(found.size).toBe(CLEAN);
  });
});

describe.each(SPOILINGS)("$what", ({ step, reason, options = {}, ways }) => {
  it.each(Object.keys(ways))(`is told by ${step}: %s`, async (way) => {
    const part = synthSteps.get(step, "test");
    const some: SampleGroup[] = [];
    for (const sample of inAnyOrder(world.samples, way)) {
      const trajectory = ways[way]?.(sample, world) ?? null;
      if (trajectory === null) continue;
      some.push({ task: sample.task, candidates: [{ ...sample.candidate, trajectory }] });
      if (some.length === SPOILED) break;
    }
    const found = await verdicts(part, some, { options, resources: resourcesOf(world) });
    expect([...found.values()]).toEqual(Array.from({ length: SPOILED }, () => reason));
  });
});
