import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { mixSchema } from "../../../src/worlds/tiny/tiny-world-settings.ts";
import { synthSteps } from "../../../src/synth/steps/index.ts";
import type { SampleGroup } from "../../../src/synth/steps/step.ts";
import type { Candidate } from "../../../src/trajectory/sample.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { cleanWorld, type CleanWorld, resourcesOf, respoken, verdicts } from "./clean-samples.ts";

const CLEAN = 400;
const PLANTED = 50;

let world: CleanWorld;
let clean: SampleGroup[];

beforeAll(async () => {
  world = await cleanWorld(CLEAN, "search-r1");
  clean = world.samples.map(({ task, candidate }) => ({ task, candidates: [candidate] }));
}, 60_000);

function copy(candidate: Candidate, trajectory: Trajectory): Candidate {
  return { ...candidate, id: `${candidate.id}-copy`, trajectory };
}

describe("near-duplicate", () => {
  const nearDuplicate = synthSteps.get("near-duplicate", "test");

  /** What a copy says in its last message. */
  const WAYS: Record<string, (text: string) => string> = {
    "the same": (text) => text,
    "other capitals": (text) => text.replace("I can answer", "I CAN ANSWER"),
    "other marks": (text) => text.replace("now.", "now!!"),
    "one word more": (text) => text.replace("I can answer", "I can surely answer"),
    "one word less": (text) => text.replace("answer now", "answer"),
  };

  it.each(Object.keys(WAYS))(
    "drops a copy that says %s, whatever its question's id",
    async (way) => {
      const groups = world.samples.slice(0, PLANTED).map(({ task, candidate }): SampleGroup => {
        const { trajectory } = candidate;
        const last = trajectory.turns.length - 1;
        const text = WAYS[way]?.(trajectory.turns[last]?.text ?? "") ?? "";
        const said = copy(candidate, respoken(trajectory, last, text, world));
        return { task: { ...task, id: `${task.id}-copy` }, candidates: [said] };
      });
      const found = await verdicts(nearDuplicate, [...clean, ...groups], {
        resources: resourcesOf(world),
      });
      const reasons = [...found].filter(([id]) => id.endsWith("-copy")).map(([, reason]) => reason);
      expect(reasons).toHaveLength(PLANTED);
      const exact = way.startsWith("the") || way.startsWith("other");
      expect(new Set(reasons)).toEqual(new Set([exact ? "duplicate: exact" : "duplicate: near"]));
      expect([...found.values()].filter((reason) => reason === null)).toHaveLength(CLEAN);
    },
  );
});

describe("benchmark-overlap", () => {
  const overlap = synthSteps.get("benchmark-overlap", "test");
  const file = join(temporaryFolder(), "benchmark.jsonl");
  /** Questions of the same patterns about other people and places. */
  const mix = mixSchema.parse({ bridge4: 0.05, comparison: 0.15, yesNo: 0.15 });
  const benchmark = [
    ...tinyWorld({ split: "test", people: 600, seed: 12 }).questions(800, { mix }),
  ];

  const WAYS: Record<string, (question: string) => string> = {
    "as it stands": (question) => question,
    "in small letters": (question) => question.toLowerCase(),
    "without marks": (question) => question.replaceAll(/[?,'.]/g, ""),
    "without an article": (question) => question.replace(/ the /, " "),
    "within other text": (question) =>
      `Answer the following question in one word. Question: ${question} Think first.`,
  };

  async function found(groups: readonly SampleGroup[]): Promise<(string | null)[]> {
    const lines = benchmark.map(({ id, question, references }) =>
      JSON.stringify({ id, question, answers: references }),
    );
    await writeFile(file, lines.join("\n"));
    const options = { files: [file] };
    const resources = resourcesOf(world);
    return [...(await verdicts(overlap, groups, { options, resources })).values()];
  }

  it("loses no clean sample, though its questions are of the benchmark's patterns", async () => {
    expect(await found(clean)).toEqual(clean.map(() => null));
  });

  it.each(Object.keys(WAYS))("drops a benchmark question %s", async (way) => {
    const planted = benchmark.slice(0, PLANTED).flatMap(({ question }, i): SampleGroup[] => {
      const sample = world.samples[i];
      if (sample === undefined) return [];
      const task = { ...sample.task, question: WAYS[way]?.(question) ?? "" };
      return [{ task, candidates: [sample.candidate] }];
    });
    const reasons = await found(planted);
    expect(reasons).toHaveLength(PLANTED);
    expect(reasons.filter((reason) => reason === null)).toEqual([]);
  });
});
