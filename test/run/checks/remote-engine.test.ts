import { describe, expect, it } from "vitest";
import { exposureWarnings, requireRemoteEngine } from "../../../src/run/checks/remote-engine.ts"; // prettier-ignore
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
