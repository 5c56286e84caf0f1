import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/base/errors.ts";
import { parseYamlValue } from "../../src/base/yaml.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { type PlannedStage, runStages } from "../../src/run/driver.ts";
import { readRunFile } from "../../src/run/folder/run-file.ts";
import type { Session } from "../../src/run/session.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { checkSettings, type Override, resolveSettings } from "../../src/run/settings/settings.ts";
import { stageList, stagesSchema } from "../../src/run/settings/stages.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();

function settingsOf(stages: string, path = "staged.yaml", ...overrides: Override[]) {
  const text = `
summary: staged
base:
  seed: 3
  policy: { from: begin }
  synth: { teacher: { name: model } }
  sft: { epochs: 2 }
  preference: {}
  algorithm: { name: grpo, steps: 2 }
  stages: ${stages}
tiers: { mini: {} }
`;
  const resolved = resolveSettings(parseRecipe(text, path), { tier: "mini", overrides });
  return checkSettings(settingsSchema, resolved);
}

/** Runs stages of which each, but for draws, leaves the folder `policy` in its own; tells what each was given. */
async function run(
  stages: string,
  name: string,
  more: {
    resume?: boolean;
    overwrite?: boolean;
    fail?: number;
    below?: string;
    overrides?: Override[];
  } = {},
) {
  const ran: (PlannedStage & { resumed: boolean })[] = [];
  const kept: number[] = [];
  const settings = settingsOf(stages, "staged.yaml", ...(more.overrides ?? []));
  const session = {
    ...sessionIn(join(more.below ?? folder, name)),
    resume: more.resume ?? false,
    overwrite: more.overwrite ?? false,
    onStage: ({ number }: { number: number }, _: number, done: boolean) => {
      if (done) kept.push(number);
    },
  };
  const result = runStages(settings, session, {
    run: (planned, { resume = false }) => {
      ran.push({ ...planned, resumed: resume });
      mkdirSync(planned.folder, { recursive: true });
      if (planned.stage.number === more.fail) return Promise.reject(new Error("interrupted"));
      const policy = planned.stage.do === "synth" ? null : join(planned.folder, "policy");
      return Promise.resolve({ policy, facts: { steps: planned.stage.number } });
    },
  });
  const outcome = await result.catch((error: unknown) => error as Error);
  return { outcome, ran, kept };
}

function sessionIn(out: string): Session {
  return { out, version: "test", signal: new AbortController().signal };
}

/** The stages that a run's file records as done. */
async function doneIn(name: string): Promise<unknown[]> {
  return (await readRunFile(join(folder, name)))!.filter(({ done }) => done);
}

const at = (name: string, stage: string): string => join(folder, name, "stages", stage);

describe("stages", () => {
  it("replaces the folder of a first stage that failed under --overwrite only", async () => {
    const stages = "[{ do: synth, name: draw }, { do: sft }]";
    const draws = join(at("again", "1-draw"), "draws.jsonl");
    await run(stages, "again", { fail: 1 });
    writeFileSync(draws, "{}\n");
    await run(stages, "again", { fail: 1 });
    expect(existsSync(draws)).toBe(true);
    const { ran } = await run(stages, "again", { overwrite: true });
    expect(ran).toMatchObject([{ resumed: false }, { resumed: false }]);
    expect(existsSync(draws)).toBe(false);
  });

  it("start from the policy trained last and learn from the draws made last", async () => {
    const { ran, outcome } = await run(
      "[{ do: synth }, { do: sft }, { do: synth, name: again }, { do: preference }, { do: train }]",
      "chain",
    );
    expect(ran.map(({ resolved: { settings } }) => settings.policy.from)).toEqual([
      "begin",
      "begin",
      ...[2, 2].map((n) => at("chain", `${n}-sft/policy`)),
      at("chain", "4-preference/policy"),
    ]);
    expect(ran[1]?.resolved.settings.sft).toMatchObject({ data: at("chain", "1-synth") });
    expect(ran[3]?.resolved.settings.preference?.data).toBe(at("chain", "3-again"));
    expect(outcome).toMatchObject({ policy: at("chain", "5-train/policy") });
  });

  it("may name the policy and the draws, or go back to the start", async () => {
    const { ran } = await run(
      "[{ do: synth, name: first }, { do: sft, name: warm }, { do: synth }, { do: sft, from: start, data: first }, { do: train, from: warm }]",
      "named",
    );
    expect(ran[3]?.resolved.settings.policy.from).toBe("begin");
    expect(ran[3]?.resolved.settings.sft).toMatchObject({ data: at("named", "1-first") });
    expect(ran[4]?.resolved.settings.policy.from).toBe(at("named", "2-warm/policy"));
  });

  it("may learn from the draws of several stages", async () => {
    const draws = "{ do: synth, name: lakes }, { do: synth, name: sums }";
    const { ran } = await run(`[${draws}, { do: sft, data: [sums, lakes] }]`, "several");
    const data = [at("several", "2-sums"), at("several", "1-lakes")];
    expect(ran[2]?.resolved.settings.sft).toMatchObject({ data });
    const { outcome } = await run(`[${draws}, { do: sft, data: [sums, shop] }]`, "unknown");
    expect(outcome).toEqual(errorWith("RECIPE_BAD_VALUE", 'data is "shop"'));
  });

  it("have settings of their own, which the others do not see", async () => {
    const { ran } = await run("[{ do: train, set: { algorithm.steps: 7 } }, { do: train }]", "own");
    const steps = ran.map(({ resolved }) => resolved.settings.algorithm);
    expect(steps).toMatchObject([{ steps: 7 }, { steps: 2 }]);
    expect(ran[0]?.resolved.origins.get("algorithm.steps")).toBe("stage 1 (train)");
  });

  it("are written out where rounds repeat, each round from what the last left", async () => {
    const { ran } = await run("[{ repeat: 2, stages: [{ do: synth }, { do: sft }] }]", "rounds");
    expect(ran.map((each) => each.folder)).toEqual(
      ["1-synth", "2-sft", "3-synth", "4-sft"].map((each) => at("rounds", each)),
    );
    expect(ran[3]?.resolved.settings.policy.from).toBe(at("rounds", "2-sft/policy"));
    expect(ran[3]?.resolved.settings.sft).toMatchObject({ data: at("rounds", "3-synth") });
  });

  it("may be none: the policy stays what it is", async () => {
    expect((await run("[]", "none")).outcome).toEqual({ stages: [], policy: null });
  });

  it("are taken over when resumed, and the interrupted one goes on in its folder", async () => {
    const stages = "[{ do: synth }, { do: sft }, { do: train }]";
    const first = await run(stages, "resumed", { fail: 2 });
    expect(first.outcome).toMatchObject({ message: "interrupted" });
    expect(await doneIn("resumed")).toMatchObject([
      { number: 1, name: "synth", do: "synth", policy: null, facts: { steps: 1 } },
    ]);
    const second = await run(stages, "resumed", { resume: true });
    expect(second.kept).toEqual([1]);
    expect(second.ran.map(({ stage, resumed }) => [stage.do, resumed])).toEqual([
      ["sft", true],
      ["train", false],
    ]);
  });

  it("stay recorded until one must run again, so that a kill while they are checked loses none", async () => {
    const stages = "[{ do: synth }, { do: sft }, { do: train }]";
    await run(stages, "checked", { fail: 3 });
    const session = { ...sessionIn(join(folder, "checked")), resume: true };
    const seen: unknown[][] = [];
    const watched = {
      ...session,
      onStage: ({ number }: { number: number }): void => {
        if (number > 2) return;
        const file = readFileSync(join(folder, "checked", "run.json"), "utf8");
        seen.push(
          (JSON.parse(file) as { stages: { done: boolean }[] }).stages.map((each) => each.done),
        );
      },
    };
    await runStages(settingsOf(stages), watched, {
      run: ({ folder: own }) => Promise.resolve({ policy: own, facts: {} }),
    });
    const kept = [false, true, true, false, false];
    expect(seen).toEqual([kept, kept]);
  });

  it("are taken over from a run whose folder is named otherwise now, or was moved", async () => {
    const stages = "[{ do: synth }, { do: sft }, { do: train }, { do: train, name: more }]";
    await run(stages, "here", { fail: 4 });
    writeFileSync(join(at("here", "1-synth"), "draws.jsonl"), "drawn");
    renameSync(join(folder, "here"), join(folder, "there"));
    const again = await run(stages, "there", { resume: true, fail: 4 });
    expect(again.kept).toEqual([1, 2, 3]);
    expect(again.ran.map(({ stage, resumed }) => [stage.name, resumed])).toEqual([["more", true]]);
    expect(again.ran[0]?.resolved.settings.policy.from).toBe(at("there", "3-train/policy"));
    expect(existsSync(join(at("there", "1-synth"), "draws.jsonl"))).toBe(true);
    const relatively = relative(process.cwd(), folder);
    const third = await run(stages, "there", { resume: true, below: relatively });
    expect(third.kept).toEqual([1, 2, 3]);
    expect(third.outcome).toMatchObject({
      policy: join(relatively, "there", "stages", "4-more", "policy"),
    });
    expect((await run(stages, "there", { resume: true })).kept).toEqual([1, 2, 3, 4]);
  });

  it("that had ended when the run was interrupted are run anew", async () => {
    await run("[{ do: train }]", "ended", { fail: 1 });
    const left: boolean[] = [];
    const session = { ...sessionIn(join(folder, "ended")), resume: true };
    const { stages } = await runStages(settingsOf("[{ do: train }]"), session, {
      run: ({ folder: own }, { resume }) => {
        left.push(existsSync(own));
        if (resume === true) throw new ConfigError("RUN_NOTHING_LEFT", "no step is left");
        return Promise.resolve({ policy: own, facts: {} });
      },
    });
    expect(left).toEqual([true, false]);
    expect(stages).toHaveLength(1);
  });

  it("are run again when they were done under other settings", async () => {
    await run("[{ do: train }]", "changed");
    const again = await run("[{ do: train, set: { algorithm.steps: 9 } }]", "changed", {
      resume: true,
    });
    expect(again.kept).toEqual([]);
    expect(again.ran).toHaveLength(1);
  });

  it("are kept when only another kind of stage has other settings", async () => {
    const stages = "[{ do: synth }, { do: sft }, { do: train }]";
    await run(stages, "longer", { fail: 3 });
    const override = { key: "algorithm.steps", value: 9, origin: "--set" };
    const again = await run(stages, "longer", { resume: true, overrides: [override] });
    expect(again.kept).toEqual([1, 2]);
    expect(again.ran.map(({ stage, resumed }) => [stage.do, resumed])).toEqual([["train", true]]);
    expect(again.ran[0]!.resolved.settings.algorithm).toMatchObject({ steps: 9 });
  });

  it("leave what they made under other settings beside it when resumed, and nothing under --overwrite", async () => {
    const stages = (epochs: number): string => `[{ do: sft, set: { sft.epochs: ${epochs} } }]`;
    const kept = (): boolean => existsSync(join(at("aside", "1-sft.replaced"), "policy"));
    await run(stages(1), "aside");
    mkdirSync(join(at("aside", "1-sft"), "policy"));
    await run(stages(2), "aside", { overwrite: true });
    expect(kept()).toBe(false);
    mkdirSync(join(at("aside", "1-sft"), "policy"));
    await run(stages(3), "aside", { resume: true });
    expect(kept()).toBe(true);
  });

  it("do not count as done under the first settings once they are begun anew under others", async () => {
    const stages = (steps: number): string =>
      `[{ do: train, set: { algorithm.steps: ${steps} } }, { do: train }]`;
    await run(stages(3), "redone");
    await run(stages(4), "redone", { resume: true, fail: 1 });
    expect(await doneIn("redone")).toEqual([]);
    const again = await run(stages(3), "redone", { resume: true });
    expect(again.kept).toEqual([]);
    expect(again.ran).toHaveLength(2);
  });

  it("are run again where one before them was, and never go on with what other settings left", async () => {
    const stages = (epochs: number): string =>
      `[{ do: sft, set: { sft.epochs: ${epochs} } }, { do: synth }, { do: train }]`;
    await run(stages(1), "upstream");
    writeFileSync(join(at("upstream", "1-sft"), "old"), "");
    writeFileSync(join(at("upstream", "2-synth"), "old"), "");
    const again = await run(stages(3), "upstream", { resume: true });
    expect(again.kept).toEqual([]);
    expect(again.ran.map(({ stage, resumed }) => [stage.do, resumed])).toEqual([
      ["sft", false],
      ["synth", false],
      ["train", false],
    ]);
    const left = ["1-sft", "2-synth"].map((each) => existsSync(join(at("upstream", each), "old")));
    expect(left).toEqual([false, false]);
    expect(existsSync(join(at("upstream", "1-sft.replaced"), "old"))).toBe(true);
    expect(existsSync(at("upstream", "3-train.replaced"))).toBe(true);
  });

  it("that draw are asked to go on under other settings, since these may only select again", async () => {
    const stages = (limit: number): string =>
      `[{ do: synth, set: { synth.limit: ${limit} } }, { do: sft }]`;
    await run(stages(1), "reselected");
    const again = await run(stages(2), "reselected", { resume: true });
    expect(again.ran.map(({ resumed }) => resumed)).toEqual([true, false]);
  });

  it("have paths from the recipe's folder, those of an earlier stage from its own", async () => {
    const own = "{ name: files, tasks: q.jsonl, corpus: '{draw}/c.jsonl' }";
    const stages = `[{ do: synth, name: draw }, { do: train, set: { dataset: ${own}, evaluation.dataset.tasks: /abs/h.jsonl, evaluation.dataset.name: files } }]`;
    const datasetsOf = async (resolved: ReturnType<typeof settingsOf>, out: string) => {
      const found: unknown[] = [];
      await runStages(resolved, sessionIn(join(folder, out)), {
        run: ({ folder: own, resolved: { settings } }) => {
          mkdirSync(own, { recursive: true });
          found.push(settings.dataset, settings.evaluation.dataset);
          return Promise.resolve({ policy: null, facts: {} });
        },
      });
      return found.slice(2);
    };
    const corpus = (out: string): string => join(at(out, "1-draw"), "c.jsonl");
    expect(await datasetsOf(settingsOf(stages, "plans/staged.yaml"), "from-recipe")).toMatchObject([
      { tasks: join("plans", "q.jsonl"), corpus: corpus("from-recipe") },
      { tasks: "/abs/h.jsonl" },
    ]);
    const flag = { key: "stages", value: parseYamlValue(stages, "--set"), origin: "--set" };
    const flagged = settingsOf("[]", "plans/staged.yaml", flag);
    expect(await datasetsOf(flagged, "from-flag")).toMatchObject([
      { tasks: "q.jsonl", corpus: corpus("from-flag") },
      { tasks: "/abs/h.jsonl" },
    ]);
  });

  it("are alone in their own settings, so that one can be run by itself", async () => {
    const { ran } = await run("[{ do: sft }]", "alone");
    expect(ran[0]?.resolved.settings).not.toHaveProperty("stages");
  });

  it("that name what no earlier one made are refused before the first runs", async () => {
    const from = await run("[{ do: train }, { do: sft, from: tran }]", "bad");
    expect(from.ran).toEqual([]);
    expect(from.outcome).toEqual(
      errorWith("RECIPE_BAD_VALUE", /stage 2 \(sft\): from is "tran".*Did you mean "train"/),
    );
    const data = await run("[{ do: sft, data: synth }, { do: synth }]", "bad");
    expect(data.outcome).toEqual(errorWith("RECIPE_BAD_VALUE", /data is "synth"/));
  });
});

describe("stageList", () => {
  it("keeps the names that mean the first and the latest policy", () => {
    expect(stagesSchema.safeParse([{ do: "sft", name: "start" }]).success).toBe(false);
    expect(stagesSchema.safeParse([{ do: "sft", name: "start-2" }]).success).toBe(true);
  });

  it("numbers stages and calls them by what they do unless they have a name", () => {
    const list = stageList(
      stagesSchema.parse([{ do: "synth" }, { repeat: 2, stages: [{ do: "sft", name: "warm" }] }]),
    );
    expect(list.map(({ number, name }) => [number, name])).toEqual([
      [1, "synth"],
      [2, "warm"],
      [3, "warm"],
    ]);
  });
});
