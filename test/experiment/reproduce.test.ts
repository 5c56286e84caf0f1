import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixedSeeds, SEEDS_BY_RULE } from "../../src/experiment/claims/looks.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import type { ArmRun } from "../../src/experiment/arms/arm-runs.ts";
import { openArmStore } from "../../src/experiment/arms/arm-store.ts";
import { reproduce, type ReproduceOptions } from "../../src/experiment/reproduce.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { TWO_CLAIMS } from "../helpers/two-claims.ts";

const folder = temporaryFolder();

const made = (version: string) => ({
  version,
  date: "2026-01-02",
  command: "agentrl reproduce two",
});

const recipe = parseRecipe(TWO_CLAIMS, "two.yaml");

const isCold = ({ settings }: ArmRun): boolean => settings.settings.sampling.temperature === 0;

/** Hot: .6, .7, .8 by seed; cold: .5 less. */
const outcome = (each: ArmRun): Promise<unknown> => {
  const em = each.seed / 10 + (isCold(each) ? 0 : 0.5);
  return Promise.resolve({ steps: 4, eval: { after: { em } } });
};

/** 20 questions with their mean as the run's EM; without a seed's own share they differ from seed to seed. */
const questionsOf: ReproduceOptions["questionsOf"] = async (each) => {
  const { eval: found } = (await outcome(each)) as { eval: { after: { em: number } } };
  const right = Math.round(20 * found.after.em);
  const values = new Map(Array.from({ length: 20 }, (_, i) => [`q${i}`, Number(i < right)]));
  return { values, outcome: `${right}` };
};

const run = (name: string, more: Partial<ReproduceOptions> = {}) =>
  reproduce(recipe, {
    tier: "mini",
    plan: fixedSeeds([1, 2, 3]),
    made: made("1"),
    out: join(folder, name),
    store: null,
    sideBySide: 1,
    signal: new AbortController().signal,
    run: outcome,
    questionsOf,
    ...more,
  });

describe("reproduce", () => {
  it("gives each arm's mean, interval and paper cell, and a verdict per claim", async () => {
    const { claims } = await run("whole");
    const [first, second] = claims;
    expect(first).toMatchObject({
      id: "hot-wins",
      verdict: "supported",
      questions: 20,
      comparisons: [
        { left: "hot", relation: ">", right: "cold", over: "seeds and questions", room: null },
      ],
      arms: [
        { name: "hot", seeds: [1, 2, 3], paper: { value: 0.4, system: "Hot" } },
        { name: "cold", paper: { value: 0.3 } },
      ],
    });
    const [hot] = first!.arms;
    expect(hot!.mean).toBeCloseTo(0.7, 12);
    // Two right and two wrong pseudo-questions shrink seeds of .6, .7, .8 by 20/24: .6667, squared error .0833² / 3. Questions: 14 of 24
    // are 1, two 2/3, two 1/3: squared error 4.4444 / 23 / 24. Together .1018 with 19.5 degrees of freedom: t = 2.0889.
    expect(hot!.ci95![0]).toBeCloseTo(2 / 3 - 2.0889 * 0.1018, 3);
    expect(first!.comparisons[0]!.difference).toBeCloseTo(0.5, 12);
    // .9 − .7 = .2 and .7 − .5 likewise, on 20 questions: three seeds cannot tell.
    expect(second!.comparisons.map(({ verdict }) => verdict)).toEqual(["undecided", "undecided"]);
    expect(second!.comparisons[0]!.difference).toBeCloseTo(0.2, 12);
    expect(second).toMatchObject({ verdict: "undecided", arms: [{ paper: null }] });
  });

  it("runs arms of equal settings once, seed by seed", async () => {
    const done: string[] = [];
    await run("shared", {
      run: (each) => {
        done.push(`${each.seed}: ${each.arms.join(" ")}`);
        return outcome(each);
      },
    });
    expect(done).toEqual([
      "1: hot-wins/hot bounds/plain",
      "1: hot-wins/cold",
      "2: hot-wins/hot bounds/plain",
      "2: hot-wins/cold",
      "3: hot-wins/hot bounds/plain",
      "3: hot-wins/cold",
    ]);
  });

  it("runs a replicate with a random stream of its own, and all arms on the settings of the claims", async () => {
    const text = TWO_CLAIMS.replace(
      "claims:\n",
      "claims:\n  base: { mini: { sampling: { topP: 0.9 } } }\n",
    );
    const twice = text.replace("set: { sampling.temperature: 0 }", "replicate: 2");
    const done: unknown[][] = [];
    await reproduce(parseRecipe(twice, "two.yaml"), {
      tier: "mini",
      plan: fixedSeeds([1]),
      made: made("1"),
      out: join(folder, "replicate"),
      store: null,
      sideBySide: 1,
      signal: new AbortController().signal,
      questionsOf: () => Promise.resolve(null),
      run: (each) => {
        const { seed, sampling } = each.settings.settings;
        done.push([each.arms[0], seed, sampling.topP]);
        return outcome(each);
      },
    });
    expect(done).toEqual([
      ["hot-wins/hot", 1, 0.9],
      ["hot-wins/cold", 2001, 0.9],
    ]);
  });

  it("goes on to five and eight seeds with the arms of claims that are undecided", async () => {
    const done: string[] = [];
    /** Hot beats cold by .5; plain is .6 above .5 on average, so that its claim needs more seeds. */
    const open = (each: ArmRun) => {
      done.push(`${each.seed} ${isCold(each) ? "cold" : "hot"}`);
      const wave = [0, 0.05, -0.05][each.seed % 3] ?? 0;
      return Promise.resolve({ eval: { after: { em: (isCold(each) ? 0 : 0.6) + wave } } });
    };
    const told: number[] = [];
    const onLook: ReproduceOptions["onLook"] = ({ seeds }) =>
      Promise.resolve(void told.push(seeds.length));
    const known = { run: open, questionsOf: () => Promise.resolve(null) };
    const options = { plan: SEEDS_BY_RULE, ...known, onLook };
    const { claims, seeds, looks } = await run("rule", options);
    expect(looks).toEqual([3, 5, 8]);
    const [first, second] = claims;
    const all = [1, 2, 3, 4, 5, 6, 7, 8];
    // Equal differences with every seed have no spread, and questions are not known: no p.
    expect(first).toMatchObject({ verdict: "undecided", arms: [{ seeds: all }, {}], level: 0.035 });
    expect(second).toMatchObject({ verdict: "supported", arms: [{ seeds: all }] });
    expect(seeds).toEqual(all);
    expect(done).toHaveLength(16);
    expect(told).toEqual([3, 5]);
    // Continued: the looks are taken again, nothing runs.
    const again = await run("rule", options);
    expect(again.claims).toEqual(claims);
    expect(done).toHaveLength(16);
  });

  it("refutes a claim whose arms come out the other way round", async () => {
    const worse = (each: ArmRun) =>
      Promise.resolve({
        eval: { after: { em: each.seed / 10 + (isCold(each) ? 0.6 : 0.01 * each.seed) } },
      });
    const found = await run("worse", { run: worse, questionsOf: () => Promise.resolve(null) });
    expect(found.claims[0]).toMatchObject({ verdict: "reversed", questions: null });
  });

  it("finds seeds that agree no proof: the questions still are a sample", async () => {
    const still = (each: ArmRun) =>
      Promise.resolve({ eval: { after: { em: isCold(each) ? 0.5 : 0.6 } } });
    const questions: ReproduceOptions["questionsOf"] = (each) => {
      const right = isCold(each) ? 20 : 24;
      const values = new Map(Array.from({ length: 40 }, (_, i) => [`q${i}`, Number(i < right)]));
      return Promise.resolve({ values, outcome: `${right}` });
    };
    const { claims } = await run("still", { run: still, questionsOf: questions });
    const [first] = claims;
    const [test] = first!.comparisons;
    expect(first!.verdict).toBe("undecided");
    expect(test!.p).toBeGreaterThan(0.05);
    expect(test!.ci95![1] - test!.ci95![0]).toBeGreaterThan(0.2);
    expect(first!.arms.map((arm) => arm.isSameForAllSeeds)).toEqual([true, true]);
  });

  it("calls arms identical whose answers agree with every seed, without p", async () => {
    const { claims } = await run("identical", {
      run: () => Promise.resolve({ eval: { after: { em: 0.5 } } }),
      questionsOf: () => Promise.resolve({ values: new Map([["q", 0.5]]), outcome: "same" }),
    });
    expect(claims[0]).toMatchObject({
      verdict: "identical arms",
      comparisons: [{ p: null, pHolm: null, ci95: null }],
    });
  });

  it("calls a tie at the ceiling not able to show, with Holm's correction over all claims", async () => {
    const values = (right: number) =>
      new Map(Array.from({ length: 40 }, (_, i) => [`q${i}`, Number(i < right)]));
    const { claims } = await run("ceiling", {
      run: () => Promise.resolve({ eval: { after: { em: 1 } } }),
      questionsOf: (each) =>
        Promise.resolve({ values: values(40), outcome: isCold(each) ? "a" : "b" }),
    });
    expect(claims[0]).toMatchObject({
      verdict: "not able to show",
      comparisons: [{ room: "ceiling" }],
    });
    const ps = claims.flatMap(({ comparisons }) => comparisons.map(({ p, pHolm }) => [p, pHolm]));
    for (const [p, pHolm] of ps) expect(pHolm).toBeGreaterThanOrEqual(p ?? 1);
  });

  it("tests nothing in tier smoke", async () => {
    const smoke = parseRecipe(TWO_CLAIMS.replace("mini:", "smoke:"), "two.yaml");
    const { claims } = await reproduce(smoke, {
      tier: "smoke",
      plan: fixedSeeds([1, 2, 3]),
      made: made("1"),
      out: join(folder, "smoke"),
      store: null,
      sideBySide: 1,
      signal: new AbortController().signal,
      run: outcome,
      questionsOf,
    });
    expect(claims.map(({ verdict }) => verdict)).toEqual(["not tested", "not tested"]);
  });

  it("reads a paper's table in percent as shares", async () => {
    const percent = TWO_CLAIMS.replace("metric: em,", "metric: em, unit: percent,")
      .replace("[0.4]", "[40]")
      .replace("[0.3]", "[30]");
    const { claims } = await reproduce(parseRecipe(percent, "two.yaml"), {
      tier: "mini",
      plan: fixedSeeds([1, 2]),
      made: made("1"),
      out: join(folder, "percent"),
      store: null,
      sideBySide: 1,
      signal: new AbortController().signal,
      run: outcome,
      questionsOf,
    });
    expect(claims[0]!.arms.map(({ paper }) => paper?.value)).toEqual([0.4, 0.3]);
  });

  it("goes on where it was interrupted, and ends with the same results", async () => {
    const whole = await run("straight");
    const broken = run("interrupted", {
      run: (each) => (each.seed < 3 ? outcome(each) : Promise.reject(new Error("stop"))),
    });
    await expect(broken).rejects.toThrow("stop");
    appendFileSync(join(folder, "interrupted", "runs.jsonl"), '{"key":"half');
    const done: number[] = [];
    const found: (string | null)[] = [];
    const resumed = await run("interrupted", {
      run: (each) => {
        done.push(each.seed);
        return outcome(each);
      },
      onArm: (arm) => found.push(arm.found),
    });
    expect(done).toEqual([3, 3]);
    expect(found).toEqual(["folder", "folder", "folder", "folder", null, null]);
    expect(resumed).toEqual(whole);
    const read = (name: string, file: string) => readFileSync(join(folder, name, file), "utf8");
    expect(read("interrupted", "runs.jsonl")).toBe(read("straight", "runs.jsonl"));
  });

  it("comes to the same results with runs side by side, and stops them when one fails", async () => {
    let [running, most] = [0, 0];
    const slow = async (each: ArmRun) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, each.seed % 2));
      running--;
      return outcome(each);
    };
    expect(await run("beside", { run: slow, sideBySide: 2 })).toEqual(await run("alone"));
    expect(most).toBe(2);
    const stopped = new Set<number>();
    const failing = run("failing", {
      sideBySide: 2,
      run: (each, { signal }) =>
        isCold(each)
          ? Promise.reject(new Error("broken"))
          : new Promise((_, reject) => {
              signal.addEventListener("abort", () => {
                stopped.add(each.seed);
                reject(new Error("stopped"));
              });
            }),
    });
    await expect(failing).rejects.toThrow("broken");
    expect([...stopped]).toEqual([1]);
  });

  it("holds no run up by a longer one before it", async () => {
    let ended = (): void => undefined;
    const others = new Promise<void>((resolve) => (ended = resolve));
    let done = 0;
    await run("longer", {
      sideBySide: 2,
      run: async (each) => {
        if (each.seed === 1 && !isCold(each)) await others;
        else if (++done === 5) ended();
        return outcome(each);
      },
    });
    expect(done).toBe(5);
  });

  it("reuses finished arms of other reproductions, and runs damaged ones again", async () => {
    const place = join(folder, "store");
    const notices: string[] = [];
    const store = openArmStore(place, (message) => notices.push(message));
    const whole = await run("first", { store });
    const found: (string | null)[] = [];
    const reused = await run("second", { store, onArm: (arm) => found.push(arm.found) });
    expect(found).toEqual(Array.from({ length: 6 }, () => "store"));
    expect(reused).toEqual(whole);
    const [key = ""] = readdirSync(place);
    writeFileSync(join(place, key, "arm.json"), '{"key":"cut');
    found.length = 0;
    await run("third", { store, onArm: (arm) => found.push(arm.found) });
    expect(found.filter((each) => each === null)).toHaveLength(1);
    expect(notices).toEqual([expect.stringMatching(/is damaged .*; the arm runs again\.$/)]);
    // The new result replaced the damaged one; another version shares nothing.
    found.length = 0;
    await run("fourth", { store, onArm: (arm) => found.push(arm.found) });
    await run("fifth", { store, made: made("2"), onArm: (arm) => found.push(arm.found) });
    expect(found.map((each) => each ?? "run")).toEqual([
      ...Array.from({ length: 6 }, () => "store"),
      ...Array.from({ length: 6 }, () => "run"),
    ]);
  });

  it("runs again what other settings or another version gave", async () => {
    await run("again", { plan: fixedSeeds([1]) });
    const done: number[] = [];
    const count = (each: ArmRun) => {
      done.push(each.seed);
      return outcome(each);
    };
    await run("again", { plan: fixedSeeds([1]), run: count });
    expect(done).toEqual([]);
    await run("again", { plan: fixedSeeds([1]), run: count, made: made("2") });
    const overrides = [{ key: "checkpoints.every", value: 7, origin: "--set" }];
    await run("again", { plan: fixedSeeds([1]), run: count, overrides });
    expect(done).toEqual([1, 1, 1, 1]);
  });

  it("runs the control of a calibration, and says where it ends", async () => {
    const calibrated = TWO_CLAIMS.replace(
      "claims:\n",
      "claims:\n  calibration: { metric: em, start: [0.05, 0.3], end: [0.3, 0.65] }\n",
    );
    const done: string[] = [];
    const { claims, calibration } = await reproduce(parseRecipe(calibrated, "two.yaml"), {
      tier: "mini",
      plan: fixedSeeds([1, 2, 3]),
      made: made("1"),
      out: join(folder, "control"),
      store: null,
      sideBySide: 1,
      signal: new AbortController().signal,
      questionsOf,
      run: async (each) => {
        done.push(each.arms.join(" "));
        const found = (await outcome(each)) as { eval: object };
        return { ...found, eval: { ...found.eval, before: { em: 0.1 } } };
      },
    });
    // The control's settings are those of two arms: it does not run again.
    expect(done[0]).toBe("hot-wins/hot bounds/plain calibration/control");
    expect(done).toHaveLength(6);
    expect(calibration).toMatchObject({
      metric: "em",
      seeds: [1, 2, 3],
      start: { isInside: true },
      end: { isInside: false },
    });
    // Outside its range is a warning; only a floor or a ceiling takes claims back.
    expect(claims.map(({ verdict }) => verdict)).toEqual(["supported", "undecided"]);
  });

  it("refuses a metric that no run can have before the first run", async () => {
    const misspelt = parseRecipe(TWO_CLAIMS.replace("eval.after.em", "eval.after.me"), "two.yaml");
    const started: string[] = [];
    const refused = reproduce(misspelt, {
      tier: "mini",
      plan: fixedSeeds([1]),
      made: made("1"),
      out: join(folder, "misspelt"),
      store: null,
      sideBySide: 1,
      signal: new AbortController().signal,
      questionsOf,
      run: (each) => {
        started.push(each.key);
        return outcome(each);
      },
    });
    await expect(refused).rejects.toThrow(
      /two\.yaml:11: claims\.tests\.0\.metric is "eval\.after\.me", which is no number of a run's results\. Did you mean "eval\.after\.em"/,
    );
    expect(started).toEqual([]);
  });

  it("says nothing about one seed", async () => {
    const { claims } = await run("one", { plan: fixedSeeds([1]) });
    expect(claims[0]).toMatchObject({ verdict: "undecided", arms: [{ ci95: null }, {}] });
  });

  it("names a metric that no run reports at the first run, and a recipe without claims", async () => {
    const missing = run("metric", { run: () => Promise.resolve({ eval: { after: { f1: 1 } } }) });
    await expect(missing).rejects.toThrow(
      /two\.yaml:11: claims\.tests\.0\.metric is "eval\.after\.em", which is no number of a run's results\. .*Known: eval\.after\.f1\./,
    );
    const empty = parseRecipe("summary: x\nbase: {}\ntiers: { mini: {} }\n", "empty.yaml");
    const options = {
      tier: "mini" as const,
      plan: fixedSeeds([1]),
      made: made("1"),
      out: join(folder, "empty"),
    };
    const { signal } = new AbortController();
    await expect(
      reproduce(empty, {
        ...options,
        store: null,
        sideBySide: 1,
        signal,
        run: outcome,
        questionsOf,
      }),
    ).rejects.toThrow(/empty\.yaml: has no claims/);
  });
});
