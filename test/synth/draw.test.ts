import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExternalError, RolloutError } from "../../src/base/errors.ts";
import type { Policy } from "../../src/rollout/policy.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import { drawQuestions, type DrawSetting, questionDrawer } from "../../src/synth/draw.ts";
import { DRAWS_FILE, openDrawLog, readDraws } from "../../src/synth/draw-log.ts";
import { synthSchema } from "../../src/synth/synth-settings.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { replay, rolloutOptions, searchEnvironment, task } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();
const { signal } = rolloutOptions({ policy: replay([]) });

const tasks: Task[] = Array.from({ length: 6 }, (_, i) => ({
  ...task,
  id: `q${i}`,
  annotations: { hops: 1, context: [{ id: "oslo", title: "Oslo", text: "Oslo." }] },
}));

function settingOf(changes: Partial<DrawSetting> & { synth?: object } = {}): DrawSetting {
  const { synth = {}, ...rest } = changes;
  return {
    policy: replay(["<search> capital of Norway</search>", "<answer> Oslo</answer>"]),
    environment: searchEnvironment(),
    draws: synthSchema.parse(synth).draws,
    sampling: GREEDY,
    rewards: [{ name: "exact-match", weight: 1, options: {} }],
    annotations: [],
    scorers: [],
    seed: 7,
    origin: {
      agentrl: "0.1.0",
      settings: "aa",
      teacher: { name: "gold-chain" },
      template: "bb",
      retriever: "cc",
      dataset: "dd",
    },
    ...rest,
  };
}

async function* stream(from: readonly Task[] = tasks): AsyncGenerator<Task> {
  for (const each of from) yield await Promise.resolve(each);
}

/** Draws all questions into a folder. @returns the lines of its log. */
async function drawInto(
  path: string,
  setting: DrawSetting,
  { resume = false, asked = tasks }: { resume?: boolean; asked?: readonly Task[] } = {},
): Promise<string> {
  const file = join(path, DRAWS_FILE);
  const log = await openDrawLog(file, { settings: setting.origin.settings, resume });
  try {
    await drawQuestions(setting, { tasks: stream(asked), log, window: 3, signal });
    await log.finish();
  } finally {
    await log.close();
  }
  return readFileSync(file, "utf8");
}

const tooSlow = (): Promise<never> => Promise.reject(new RolloutError("HTTP_TIMEOUT", "too slow"));
const newFolder = (): string => mkdtempSync(join(folder, "draws-"));

describe("draws of a question", () => {
  it("are scored, have ids and seeds of their own, and say what they came from", async () => {
    const draws = [
      { name: "plain", samples: 2 },
      { name: "blind", strategy: "direct" },
    ];
    const drawn = await questionDrawer(settingOf({ synth: { draws } }))(tasks[0]!, signal);
    expect(drawn.task.annotations).toEqual({ hops: 1 });
    expect(drawn.failed).toBeUndefined();
    const { candidates } = drawn;
    expect(candidates.map(({ id }) => id)).toEqual(["q0/plain-0", "q0/plain-1", "q0/blind-0"]);
    expect(new Set(candidates.map(({ provenance }) => provenance.seed)).size).toBe(3);
    expect(candidates[2]).toMatchObject({
      weight: 1,
      provenance: { settings: "aa", draw: { name: "blind", number: 0 }, strategy: "direct" },
    });
    expect(candidates[0]?.trajectory).toMatchObject({ id: "q0/plain-0", groupId: "q0", reward: 1 });
    expect(candidates[0]?.trajectory.seed).toBe(candidates[0]?.provenance.seed);
  });

  it("do not depend on how many others there are, nor on the order of questions", async () => {
    const one = await questionDrawer(settingOf())(tasks[3]!, signal);
    const draws = [{ name: "other" }, { name: "plain", samples: 3 }];
    const draw = questionDrawer(settingOf({ synth: { draws } }));
    await draw(tasks[1]!, signal);
    const among = await draw(tasks[3]!, signal);
    expect(among.candidates[1]).toEqual(one.candidates[0]);
  });

  it("know what annotations added, which is kept with the question", async () => {
    const added: Task["annotations"] = { type: "bridge" };
    const annotation = {
      annotate: (given: Task) =>
        Promise.resolve({ ...given, annotations: { ...given.annotations, ...added } }),
      close: () => Promise.resolve(),
    };
    const drawn = await questionDrawer(settingOf({ annotations: [annotation] }))(tasks[0]!, signal);
    expect(drawn.task.annotations).toEqual({ hops: 1, type: "bridge" });
  });
});

describe("a log of draws", () => {
  it("has the questions in their order, whichever is done first", async () => {
    const text = await drawInto(newFolder(), settingOf());
    const ids = text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { task: Task }).task.id);
    expect(ids).toEqual(tasks.map(({ id }) => id));
  });

  it("takes over what did not fail and tries the rest again: a rollout, a score, an annotation", async () => {
    let failing = new Set(["q1", "q2", "q3/plain-1"]);
    let rollouts = 0;
    const policy = settingOf().policy as Extract<Policy, { complete: unknown }>;
    const shaky: Policy = {
      ...policy,
      complete: (request) => {
        rollouts += request.turns.length === 0 ? 1 : 0;
        return failing.has(request.sequence ?? "") ? tooSlow() : policy.complete(request);
      },
    };
    const synth = { draws: [{ name: "plain", samples: 2 }] };
    const setting = settingOf({
      policy: shaky,
      synth,
      scorers: [
        {
          score: (_, { id }) =>
            failing.has("q2") && id === "q2/plain-0" ? tooSlow() : Promise.resolve({ said: 1 }),
        },
      ],
      annotations: [
        {
          annotate: (given) =>
            failing.has("q1") && given.id === "q1" ? tooSlow() : Promise.resolve(given),
          close: () => Promise.resolve(),
        },
      ],
    });
    const path = newFolder();
    await drawInto(path, setting);
    const first = await collect(readDraws(join(path, DRAWS_FILE)));
    expect(first[1]).toMatchObject({
      candidates: [],
      failed: [{ of: "q1", code: "HTTP_TIMEOUT" }],
    });
    expect(first[2]).toMatchObject({ failed: [{ of: "q2/plain-0" }] });
    failing = new Set();
    rollouts = 0;
    const resumed = await drawInto(path, setting, { resume: true });
    // Two of the question that could not be annotated, and the one that failed; what was only not scored is not drawn again.
    expect(rollouts).toBe(3);
    expect(resumed).toBe(await drawInto(newFolder(), setting));
  });

  it("gives up after 24 rollouts that failed in a row", async () => {
    const policy = settingOf().policy as Extract<Policy, { complete: unknown }>;
    const synth = { draws: [{ name: "plain", samples: 8 }] };
    const down = { ...policy, complete: tooSlow };
    const work = drawInto(newFolder(), settingOf({ policy: down, synth }));
    await expect(work).rejects.toThrow(errorWith("SYNTHESIS_GIVEN_UP", "24 rollouts in a row"));
    await expect(work).rejects.toBeInstanceOf(ExternalError);
  });

  it("does not try a teacher again that gave up, nor count it as a failure", async () => {
    let asked = 0;
    const policy = settingOf().policy as Extract<Policy, { complete: unknown }>;
    const complete = () => {
      asked += 1;
      return Promise.reject(new RolloutError("TEACHER_GAVE_UP", "beyond it"));
    };
    const synth = { draws: [{ name: "plain", samples: 8 }] };
    const setting = settingOf({ policy: { ...policy, complete }, synth });
    const path = newFolder();
    await drawInto(path, setting);
    expect(asked).toBe(48);
    await drawInto(path, setting, { resume: true });
    expect(asked).toBe(48);
  });

  it("refuses draws under other settings, and draws of questions that are not asked for", async () => {
    const path = newFolder();
    await drawInto(path, settingOf());
    const origin = { ...settingOf().origin, settings: "zz" };
    await expect(drawInto(path, settingOf({ origin }), { resume: true })).rejects.toThrow(
      errorWith("SYNTHESIS_EXISTS", /draws\.jsonl:1: was drawn with another teacher.*aa, now zz\)/),
    );
    await expect(drawInto(path, settingOf())).rejects.toThrow(
      errorWith("SYNTHESIS_EXISTS", "--resume"),
    );
    const fewer = drawInto(path, settingOf(), { resume: true, asked: tasks.slice(0, 4) });
    await expect(fewer).rejects.toThrow(errorWith("SYNTHESIS_EXISTS", "2 questions"));
  });
});
