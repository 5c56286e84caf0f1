import { describe, expect, it } from "vitest";
import {
  exportedKeys,
  type ExportFacts,
  refusals,
  refusalText,
  rule,
  unused,
} from "../../src/exports/rule.ts";
import { only } from "../../src/exports/shared-rules.ts";
import type { Settings } from "../../src/run/settings/settings-schema.ts";

const settings = {
  seed: 3,
  policy: { from: "base", lora: { rank: 4 } },
  reporters: [],
  environment: { name: "maze", size: 4 },
} as unknown as Settings;
const origins = new Map([
  ["seed", "--seed"],
  ["policy.from", "default"],
  ["policy.lora.rank", "a.yaml:4"],
]);
const rows = { train: 1, validation: 1, longestPrompt: 9 };
const facts: ExportFacts = { settings, rows, model: "m", gpus: 1, stop: [] };
const rest = [...unused("own", ["reporters"]), rule("environment", {})];

describe("rules of an export", () => {
  it("apply to their key and to those below it that have no rule of their own", () => {
    const rules = [
      rule("policy", { file: "a.json" }),
      rule<string>("policy.from", { to: (from) => ({ "model.path": from }) }),
      rule<number>("seed", { to: (seed, { model }) => ({ [model]: seed }), differs: () => "d" }),
      ...rest,
    ];
    expect(refusals(settings, origins, rules)).toEqual([]);
    expect(exportedKeys(facts, origins, rules)).toMatchObject([
      { from: "seed", value: 3, origin: "--seed", to: { m: 3 }, differs: "d" },
      { from: "policy.from", origin: "default", to: { "model.path": "base" } },
      { from: "policy", value: settings.policy, origin: "a.yaml:4", to: {}, file: "a.json" },
      { from: "reporters", unused: "own" },
      { from: "environment" },
    ]);
  });

  it("refuse a value that they forbid, and every key without a rule", () => {
    const rules = [rule("seed", { allowed: only(1) }), rule("policy.from", {}), ...rest];
    const found = refusals(settings, origins, rules);
    expect(found.map(refusalText)).toEqual([
      "seed is 3 (--seed); allowed: 1",
      "policy.lora.rank is 4 (a.yaml:4); allowed: nothing: the export has no translation of this key",
    ]);
  });

  it("say nothing of the options of a part that they refuse", () => {
    const rules = [
      ...["seed", "policy", "reporters"].map((from) => rule(from, {})),
      rule("environment.name", { allowed: only("search-qa") }),
    ];
    const found = refusals(settings, origins, rules);
    expect(found.map(({ from }) => from)).toEqual(["environment.name"]);
  });
});
