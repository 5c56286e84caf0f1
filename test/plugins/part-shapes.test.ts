import { describe, expect, it } from "vitest";
import { defineEstimator } from "../../src/advantages/estimator.ts";
import { z } from "../../src/base/schema.ts";
import { defineEnvironment, requireStepResult } from "../../src/env/environments/environment.ts";
import { defineProtocol } from "../../src/env/protocols/protocol.ts";
import { defineTool, stateless } from "../../src/env/tools/tool.ts";
import { defineLoss } from "../../src/losses/loss.ts";
import { defineRetriever } from "../../src/retrieval/retriever.ts";
import { noneRetriever } from "../../src/retrieval/controls/none.ts";
import { defineReward } from "../../src/rewards/reward.ts";
import { defineStrategy } from "../../src/rollout/strategies/strategy.ts";
import { defineFilter } from "../../src/algorithms/filters/filter.ts";
import { defineSampler } from "../../src/algorithms/samplers/sampler.ts";
import { errorWith } from "../helpers/error-with.ts";

/** A define… helper as plain JavaScript calls it: with anything. */
type Loose = (described: unknown) => Record<string, (...given: unknown[]) => unknown>;
const loose = (define: unknown): Loose => define as Loose;

const head = { name: "mine", summary: "A part.", source: "mine", options: z.strictObject({}) };

const helpers: [string, Loose, string, object][] = [
  ["reward", loose(defineReward), "score", {}],
  ["environment", loose(defineEnvironment), "create", {}],
  ["tool", loose(defineTool), "create", { description: "d", parameters: z.object({}) }],
  ["protocol", loose(defineProtocol), "create", {}],
  ["advantage estimator", loose(defineEstimator), "estimate", {}],
  ["loss", loose(defineLoss), "build", { fields: [] }],
  ["strategy", loose(defineStrategy), "run", { prompts: "grows", searches: false }],
  ["retriever", loose(defineRetriever), "open", {}],
  ["sampler", loose(defineSampler), "open", {}],
  ["filter", loose(defineFilter), "keep", {}],
];

describe("a part that lacks what it is made of", () => {
  it.each(helpers)("%s names its missing function", (kind, define, name, more) => {
    const described = { ...head, ...more, [`${name}d`]: () => null };
    expect(() => define(described)).toThrow(
      errorWith("PLUGIN_BAD_PART", `${kind} "mine": ${name} is undefined: expected a function`),
    );
  });

  it.each(helpers)("%s refuses options that are no schema", (kind, define, name, more) => {
    const described = { ...head, ...more, [name]: () => null, options: { limit: 5 } };
    expect(() => define(described)).toThrow(
      errorWith("PLUGIN_BAD_PART", `${kind} "mine": options is an object: expected z.strictObject`),
    );
  });

  it("refuses a tool without a description and arguments that are no schema", () => {
    const tool = { ...head, description: "d", parameters: z.object({}), create: () => null };
    const define = loose(defineTool);
    expect(() => define({ ...tool, description: undefined })).toThrow(
      errorWith("PLUGIN_BAD_PART", "description is undefined: expected text"),
    );
    expect(() => define({ ...tool, parameters: undefined })).toThrow(
      errorWith("PLUGIN_BAD_PART", "parameters is undefined"),
    );
  });
});

describe("a part whose function returns something else", () => {
  const fails = (what: string, work: () => unknown) => {
    expect(work).toThrow(errorWith("PLUGIN_FAILED", what));
  };
  const tool = { ...head, description: "d", parameters: z.object({}) };
  const sampler = { next: () => [{ task: {}, groupId: "g", rollouts: 2 }], state: () => null };
  const open = (made: object) =>
    loose(defineSampler)({ ...head, open: () => made })["open"]!({}, {}, null) as Record<
      string,
      (...given: unknown[]) => unknown
    >;

  it("names what a tool's open and session lack", () => {
    const made = (create: unknown) =>
      loose(defineTool)({ ...tool, create })["create"]!({}, {}) as {
        open(context: object): object;
      };
    fails('tool "mine": create returned an object whose open is undefined', () => made(() => ({})));
    fails('tool "mine": create returned undefined', () => made(() => undefined));
    const session = { kall: () => ({ text: "" }), fork: () => session };
    fails("call is undefined", () => made(() => ({ open: () => session })).open({}));
    expect(made(() => ({ open: () => stateless(() => ({ text: "" })) })).open({})).toBeDefined();
  });

  it("names what an environment, its episode and its step lack", () => {
    const made = (create: unknown) =>
      loose(defineEnvironment)({ ...head, create })["create"]!({}, {}) as {
        start(task: object): void;
      };
    fails("start is undefined", () => made(() => ({ protocol: {}, answers: false })));
    const whole = { protocol: {}, answers: false, start: () => ({ prompt: "", fork: () => 0 }) };
    fails("step is undefined", () => {
      made(() => whole).start({});
    });
    const step = { actions: [], problems: [], observations: [], reply: null };
    fails('its end is "finished"', () => { requireStepResult("mine", { ...step, end: "finished" } as never); }); // prettier-ignore
    expect(() => {
      requireStepResult("mine", { ...step, end: "done" });
    }).not.toThrow();
  });

  it("refuses a sampler that asks for nothing, for no rollouts, or accepts foreign groups", () => {
    fails("accept is undefined", () => open(sampler));
    const accept = (groups: unknown) => ({ batch: groups, more: [] });
    const whole = { ...sampler, accept };
    expect(open(whole)["next"]!(0, {})).toHaveLength(1);
    fails("no request for step 1", () => open({ ...whole, next: () => [] })["next"]!(0, {}));
    fails("rollouts is 0", () =>
      open({ ...whole, next: () => [{ task: {}, groupId: "g", rollouts: 0 }] })["next"]!(0, {}),
    );
    fails("groupId is undefined", () =>
      open({ ...whole, next: () => [{ task: {}, rollouts: 1 }] })["next"]!(0, {}),
    );
    fails("batch is undefined", () => open({ ...whole, accept: () => ({}) })["accept"]!([], 0, 1));
    fails("a group that it was not given", () =>
      open({ ...whole, accept: () => ({ batch: [{}], more: [] }) })["accept"]!([], 0, 1),
    );
  });

  it("refuses a filter that keeps nothing of a list, or other groups", () => {
    const keep = (work: unknown) => loose(defineFilter)({ ...head, keep: work })["keep"]!([{}], {});
    fails("keep must return a list", () => keep(() => undefined));
    fails("keep must return a list", () => keep((groups: object[]) => groups.map(() => ({}))));
    expect(keep((groups: object[]) => groups)).toHaveLength(1);
  });

  it("refuses a loss that is no single element", () => {
    const built = (build: unknown) =>
      loose(defineLoss)({ ...head, fields: [], build })["build"]!({}, {});
    const value = (...shape: number[]) => ({ graph: {}, shape });
    fails("build returned undefined", () => built(() => undefined));
    fails("loss is 1", () => built(() => ({ loss: 1, metrics: {} })));
    fails("metrics is undefined", () => built(() => ({ loss: value(1, 1) })));
    fails("shape [8, 1]", () => built(() => ({ loss: value(8, 1), metrics: {} })));
    expect(built(() => ({ loss: value(1, 1), metrics: {} }))).toBeDefined();
  });

  it("refuses a strategy without a trajectory, and a retriever without search", async () => {
    const strategy = { ...head, prompts: "grows", searches: false, run: () => undefined };
    await expect(loose(defineStrategy)(strategy)["run"]!({}, {})).rejects.toThrow(
      errorWith("PLUGIN_FAILED", 'strategy "mine": run returned undefined'),
    );
    const retriever = { ...head, open: () => ({ fingerprint: "f", serch: () => [] }) };
    await expect(loose(defineRetriever)(retriever)["open"]!({}, {})).rejects.toThrow(
      errorWith("PLUGIN_FAILED", "search is undefined: expected a function"),
    );
    const good = loose(defineRetriever)({ ...head, open: noneRetriever });
    await expect(good["open"]!({}, {})).resolves.toBeDefined();
  });
});
