import { ConfigError } from "../base/errors.ts";
import type { PolicyEngine, SamplingClient } from "./engine.ts";

/** What rollouts use of an engine. */
export type RolloutEngine = Pick<
  PolicyEngine,
  "tokenizer" | "capabilities" | "policyVersion" | "sample" | "forget" | "logprobs"
>;

/** An engine for rollouts that last while the engine trains. */
export interface HeldWeights {
  engine: RolloutEngine;
  /** From now on `engine` samples from the weights of this moment, until the next call. */
  hold(): Promise<void>;
}

/** Rollouts beside a running training see the weights that were held. @throws {ConfigError} ENGINE_UNFIT when the engine cannot. */
export function heldWeights(engine: PolicyEngine): HeldWeights {
  if (engine.samplingClient === undefined) {
    const { device, dialect } = engine.machine;
    throw cannotHold(dialect === undefined ? device : `${device}, ${dialect}`);
  }
  const open = engine.samplingClient.bind(engine);
  let held: Pick<SamplingClient, "policyVersion" | "sample" | "forget"> = engine;
  return {
    async hold() {
      held = await open();
    },
    engine: {
      tokenizer: engine.tokenizer,
      get capabilities() {
        return engine.capabilities;
      },
      get policyVersion() {
        return held.policyVersion;
      },
      sample: (request) => held.sample(request),
      forget: (sequence) => {
        held.forget(sequence);
      },
      logprobs(rows, model = "policy") {
        if (model !== "policy") return engine.logprobs(rows, model);
        return Promise.reject(
          new ConfigError(
            "ENGINE_UNFIT",
            "algorithm.maxStepsOffPolicy: rollouts or rewards ask for log-probabilities of the policy, which is being trained meanwhile. Let them ask a model of its own (models), or set algorithm.maxStepsOffPolicy: 0.",
          ),
        );
      },
    },
  };
}

/** @param where it computes. */
export function cannotHold(where: string): ConfigError {
  const message = `algorithm.maxStepsOffPolicy is 1: the engine (${where}) cannot sample from the weights before a step while it trains. Set it to 0, or use engine.name: tinker at another server (docs/servers.md).`;
  return new ConfigError("ENGINE_UNFIT", message);
}
