import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dialectNames } from "../../../src/engine/tinker/dialect.ts";
import { requireHonoured } from "../../../src/engine/tinker/limits.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { type FakeCall, fakeTinker, type Refusal } from "../../helpers/fake-tinker.ts";
import { openRemoteEngine } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const model = await writeTinyModel(join(temporaryFolder(), "model"));

/** As SkyRL 0.4.0 with JAX answers. */
const lacksGspo = ({ lossFn }: FakeCall): Refusal | null =>
  lossFn === "gspo"
    ? { detail: "Loss functions ['gspo'] are not supported by the JAX backend" }
    : null;
const unknownLoss = ({ lossFn }: FakeCall): Refusal | null =>
  lossFn === "gspo" ? { detail: "unknown loss" } : null;

const SCRATCH = ["create_model", "forward_backward", "optim_step", "unload_model"];

async function dialectAt(url: string): Promise<unknown> {
  const engine = await openRemoteEngine(model, url);
  await engine.close();
  return engine.machine["dialect"];
}

describe("a server that does not say which one it is", () => {
  it("is SkyRL with JAX where it says so of a loss, before it computes anything", async () => {
    const { url, calls } = await fakeTinker({ refuses: lacksGspo, norms: [16.95, 30.58] });
    const seen: string[] = [];
    const requireFit = ({ name }: { name: string }): void => {
      seen.push(`${name} after ${calls.map(({ path }) => path).join()}`);
    };
    const engine = await openRemoteEngine(model, url, { requireFit });
    await engine.close();
    expect(engine.machine["dialect"]).toBe("skyrl-jax");
    expect(seen).toEqual(["skyrl-jax after create_model,forward_backward,unload_model"]);
  });

  // SkyRL 0.4.0 with JAX, with the gradients of three rows left by an earlier client: 16.95, 30.58, 30.58.
  it.each([
    ["skyrl-jax", [16.954570770263672, 30.57569122314453, 30.57569122314453]],
    ["tinker", [40, 30, 60]],
    ["tinker", [30, 30, 60]],
  ])("is %s by its gradient norms %j, whatever an earlier client left", async (name, norms) => {
    const { url } = await fakeTinker({ refuses: unknownLoss, norms });
    expect(await dialectAt(url)).toBe(name);
  });

  it("has to be named where the norms tell nothing", async () => {
    const { url, paths } = await fakeTinker({ norms: [1, 1, 9] });
    await expect(openRemoteEngine(model, url)).rejects.toThrow(
      errorWith("ENGINE_UNFIT", `engine.dialect, one of ${dialectNames.join(", ")}`),
    );
    expect(paths().at(-1)).toBe("unload_model");
  });
});

describe("before a policy is made at SkyRL with JAX", () => {
  it("gradients that an earlier client left are discarded", async () => {
    const { url, paths } = await fakeTinker({});
    const engine = await openRemoteEngine(model, url, { dialect: "skyrl-jax" });
    expect(paths()).toEqual([...SCRATCH, "create_model"]);
    await engine.close();
  });

  it("weights in float16 that a processor cannot compute are refused, with what to do", async () => {
    const detail = "The precision 'F16_F16_F32' is not supported by dot_general on CPU";
    for (const dialect of [null, "skyrl-jax"] as const) {
      const { url, paths } = await fakeTinker({
        refuses: (call) =>
          lacksGspo(call) ?? (call.path === "forward_backward" ? { detail } : null),
      });
      await expect(openRemoteEngine(model, url, { dialect })).rejects.toThrow(
        errorWith("ENGINE_UNFIT", "agentrl models convert MODEL --dtype float32"),
      );
      expect(paths().filter((path) => path === "create_model")).toHaveLength(dialect === null ? 2 : 1); // prettier-ignore
      expect(paths().at(-1)).toBe("unload_model");
    }
  });

  it("an option that it would ignore is refused", async () => {
    const { url, paths } = await fakeTinker({ refuses: lacksGspo });
    const adam = {
      learningRate: 1,
      beta1: 0,
      beta2: 0,
      epsilon: 1,
      weightDecay: 0,
      gradClipNorm: 1,
    };
    await expect(
      openRemoteEngine(model, url, {
        requireFit: (dialect) => {
          requireHonoured(adam, dialect);
        },
      }),
    ).rejects.toThrow(errorWith("ENGINE_UNFIT", "optimizer.gradClipNorm is 1"));
    expect(paths()).toEqual(["create_model", "forward_backward", "unload_model"]);
  });
});
