import { describe, expect, it } from "vitest";
import { dialectNamed } from "../../../src/engine/remote-plan.ts";
import {
  exposureWarnings,
  requireDialect,
  requireRemoteEngine,
} from "../../../src/run/checks/remote-engine.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { errorWith } from "../../helpers/error-with.ts";
import "../../helpers/all-parts.ts";

/** What a run with these settings of the engine warns of. */
function warned(engine: object): string[] {
  const settings = settingsSchema.parse({ engine, policy: { lora: {} } });
  const events = exposureWarnings(settings);
  expect(events.every(({ kind, step }) => kind === "exposed" && step === 0)).toBe(true);
  return events.map(({ message }) => message.replace(/:? everyone who.*/, ""));
}

const tinker = (url: string, more: object = {}) => warned({ name: "tinker", url, ...more });
const key = { apiKeyEnv: "KEY" };

describe("a server that is not on this machine", () => {
  it.each([
    "http://127.0.0.1:8000",
    "http://localhost:8000",
    "http://[::1]:8000",
    "http://127.1.2.3",
  ])("%s is on this machine: no warning", (url) => {
    expect(tinker(url)).toEqual([]);
  });

  it("without a key or encryption: a warning that names what is missing", () => {
    expect(tinker("http://10.0.0.5:8000")).toEqual([
      "http://10.0.0.5:8000 is reached without a key (engine.apiKeyEnv) and encryption",
    ]);
    expect(tinker("https://gpu.example")).toEqual([
      "https://gpu.example is reached without a key (engine.apiKeyEnv)",
    ]);
    expect(tinker("http://gpu.example", key)).toEqual([
      "http://gpu.example is reached without encryption",
    ]);
    // Names that only begin like this machine's.
    expect(tinker("https://localhost.example")).toHaveLength(1);
    expect(tinker("https://127.0.0.1.example")).toHaveLength(1);
  });

  it("with a key over https: no warning", () => {
    expect(tinker("https://gpu.example", key)).toEqual([]);
  });

  it("as sampler: the same, by its own key", () => {
    const sampler = { url: "https://sampler.example", adapters: "/shared" };
    expect(tinker("http://127.0.0.1:8000", { sampler })).toEqual([
      "https://sampler.example is reached without a key (engine.sampler.apiKeyEnv)",
    ]);
    expect(tinker("http://127.0.0.1:8000", { sampler: { ...sampler, ...key } })).toEqual([]);
  });

  it("is none where this machine trains", () => {
    expect(warned({})).toEqual([]);
  });
});

describe("draws at another temperature than 1", () => {
  const refused =
    (engine: object, algorithm: object = {}, temperature = 0.7) =>
    () => {
      requireRemoteEngine(
        settingsSchema.parse({
          engine: { name: "tinker", url: "http://127.0.0.1:8000", ...engine },
          policy: { lora: {} },
          sampling: { temperature },
          algorithm: { name: "grpo", ...algorithm },
        }),
      );
    };
  const unfit = errorWith("ENGINE_UNFIT", "sampling.temperature is 0.7");

  it("are refused where a server computes log-probabilities at 1 alone, whatever is compared", () => {
    expect(refused({ dialect: "tuft" })).toThrow(unfit);
    expect(refused({ dialect: "tuft" }, { oldLogprobs: "recomputed" })).toThrow(unfit);
    expect(refused({ dialect: "tuft" }, {}, 1)).not.toThrow();
    expect(refused({ dialect: "agentrl" })).not.toThrow();
  });

  it("need recomputed log-probabilities where another server samples", () => {
    const engine = {
      dialect: "agentrl",
      sampler: { url: "http://127.0.0.1:8001", adapters: "/a" },
    };
    const recomputed = { oldLogprobs: "recomputed" };
    expect(refused(engine)).toThrow(unfit);
    expect(refused(engine, recomputed)).not.toThrow();
    expect(refused(engine, { ...recomputed, importanceSamplingCap: 2 })).toThrow(unfit);
    expect(refused(engine, {}, 1)).not.toThrow();
  });
});

describe("what a training server would ignore or cannot hold", () => {
  /** @param algorithm beside name and steps. */
  const checked =
    (engine: object, algorithm: object = {}, more: object = {}) =>
    () => {
      requireRemoteEngine(
        settingsSchema.parse({
          engine: { name: "tinker", url: "http://127.0.0.1:8000", ...engine },
          algorithm: { name: "grpo", klCoef: 0, ...algorithm },
          ...more,
        }),
      );
    };
  const lora = { policy: { lora: {} } };
  const unclipped = { optimizer: { gradClipNorm: 1e6 } };

  it("clipping, at a server that is named: refused at planning", () => {
    const unfit = errorWith("ENGINE_UNFIT", "optimizer.gradClipNorm is 1: a skyrl-jax server");
    expect(checked({ dialect: "skyrl-jax" }, {}, lora)).toThrow(unfit);
    expect(checked({ dialect: "skyrl-jax" }, unclipped, lora)).not.toThrow();
    expect(checked({ dialect: "tuft" }, {}, lora)).not.toThrow();
  });

  it("clipping, at a server that is found out later: refused by its dialect", () => {
    const settings = settingsSchema.parse({
      engine: { name: "tinker", url: "http://127.0.0.1:8000" },
      algorithm: { name: "grpo" },
      ...lora,
    });
    requireRemoteEngine(settings);
    expect(() => {
      requireDialect(settings, dialectNamed("skyrl-jax"));
    }).toThrow(errorWith("ENGINE_UNFIT", "optimizer.gradClipNorm is 1"));
  });

  it("all weights: refused where the named server trains adapters alone, or samples elsewhere", () => {
    for (const dialect of ["skyrl-jax", "tuft", "open-rl", "tinker"])
      expect(checked({ dialect }, unclipped)).toThrow(
        errorWith("ENGINE_UNFIT", `is a ${dialect} server, which trains adapters alone`),
      );
    for (const dialect of ["agentrl", "skyrl"])
      expect(checked({ dialect }, unclipped)).not.toThrow();
    const sampler = { url: "http://127.0.0.1:8001", adapters: "/a" };
    expect(checked({ dialect: "agentrl", sampler })).toThrow(
      errorWith("ENGINE_UNFIT", "engine.sampler is set, and policy.lora is not"),
    );
  });

  it("a reference or a snapshot beside all weights, at a server with room for one model", () => {
    const reference = errorWith("ENGINE_UNFIT", "algorithm grpo compares with a reference policy");
    const kl = { ...unclipped, klCoef: 0.001 };
    expect(checked({ dialect: "skyrl" }, kl)).toThrow(reference);
    expect(checked({ dialect: "skyrl" }, kl, lora)).not.toThrow();
    expect(checked({ dialect: "agentrl" }, kl)).not.toThrow();
    expect(
      checked({ dialect: "skyrl" }, unclipped, {
        models: { judge: { policy: "snapshot", every: 2 } },
      }),
    ).toThrow(errorWith("ENGINE_UNFIT", "models.judge is a snapshot of the policy"));
  });

  it("asynchronous rollouts, where draws are always from the newest weights", () => {
    const ahead = { ...unclipped, maxStepsOffPolicy: 1 };
    const unfit = errorWith("ENGINE_UNFIT", "the engine (a skyrl server) cannot sample");
    expect(checked({ dialect: "skyrl" }, ahead, lora)).toThrow(unfit);
    expect(checked({ dialect: "skyrl-jax" }, ahead, lora)).not.toThrow();
  });
});
