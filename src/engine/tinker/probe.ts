import { ConfigError } from "../../base/errors.ts";
import type { FreshLora } from "../local/engine-files.ts";
import type { TrainingRow } from "../engine.ts";
import { refusalBy } from "./connection.ts";
import { createModel } from "./create-model.ts";
import { type Dialect, dialectNamed, dialectNames } from "./dialect.ts";
import { requireFullWeights } from "./limits.ts";
import { type NativeLoss, wireRow } from "./native-loss.ts";
import type { RemoteModel, RemoteSession } from "./remote-model.ts";

const STILL = {
  learningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: Infinity,
};

/** Makes a model to train. Gradients that an earlier model left at the server are discarded first. @throws as `createModel` and `onScratch` */
export async function createPolicy(
  session: RemoteSession,
  lora: FreshLora | null,
): Promise<RemoteModel> {
  if (session.dialect.keepsGradients && lora !== null)
    await onScratch(session, lora, (model) => gradientNorm(model, 1));
  return createModel(session, lora);
}

/**
 * Which server an unknown one is, on adapters that are then unloaded: SkyRL with JAX says so where it lacks a loss; others tell whether
 * they sum losses or divide by weights by the gradient norms of one row with weights 1 and 2.
 * @throws {ConfigError} ENGINE_UNFIT when the server does not report the gradient's norm; as `requireFullWeights` and `onScratch`.
 */
export async function probedDialect(
  session: Omit<RemoteSession, "dialect">,
  lora: FreshLora | null,
): Promise<Dialect> {
  if (lora === null) return requireFullWeights(null, session.connection.where);
  const plain = { ...dialectNamed("tinker"), alpha: () => lora.alpha };
  return onScratch({ ...session, dialect: plain }, lora, async (model) => {
    if (await isJax(model)) return dialectNamed("skyrl-jax");
    // What earlier clients left of gradients comes into the first norm of some servers, which is not read.
    await gradientNorm(model, 1);
    const one = await gradientNorm(model, 1);
    const two = await gradientNorm(model, 2);
    const ratio = two / one;
    // SkyRL with JAX is the known server that divides; another would be treated alike.
    if (Math.abs(ratio - 1) < 0.05) return dialectNamed("skyrl-jax");
    if (Math.abs(ratio - 2) < 0.1) return dialectNamed("tinker");
    const message = `${session.connection.where}: loss aggregation unknown (sum or mean) (gradient norms ${one} and ${two} for weights 1 and 2). Name the server: engine.dialect, one of ${dialectNames.join(", ")}.`;
    throw new ConfigError("ENGINE_UNFIT", message);
  });
}

/** SkyRL 0.4 refuses a loss that its JAX backend lacks before it computes anything. */
async function isJax(model: RemoteModel): Promise<boolean> {
  const gspo: NativeLoss = {
    lossFn: "gspo",
    config: {},
    row: (row) => {
      const zeros = row.targets.map(() => 0);
      return wireRow(row, { weights: row.fields.weights, logprobs: zeros, advantages: zeros });
    },
  };
  try {
    await model.forwardBackward([rowOf(1)], gspo);
    return false;
  } catch (error) {
    const said = refusalBy(error);
    if (said === null) throw error;
    return /not supported by the JAX backend/i.test(said);
  }
}

/** Of one row, by a step at learning rate 0. @returns NaN where the server does not say it. */
async function gradientNorm(model: RemoteModel, weight: number): Promise<number> {
  await model.forwardBackward([rowOf(weight)], {
    lossFn: "cross_entropy",
    config: {},
    row: (row) => wireRow(row, { weights: row.fields.weights }),
  });
  return (await model.optimStep(STILL)).gradNorm;
}

function rowOf(weight: number): TrainingRow {
  const inputs = [1, 2, 3, 4];
  return { inputs, targets: [2, 3, 4, 5], fields: { weights: inputs.map(() => weight) } };
}

/** @throws {ConfigError} ENGINE_UNFIT where the server cannot compute the model. */
async function onScratch<T>(
  session: RemoteSession,
  lora: FreshLora,
  use: (model: RemoteModel) => Promise<T>,
): Promise<T> {
  const model = await createModel(session, lora);
  try {
    return await use(model);
  } catch (error) {
    const said = refusalBy(error);
    if (said === null) throw error;
    const isHalf = /\bb?f(loat)?16(\b|_)/i.test(said);
    const remedy = isHalf
      ? "The server computes in the dtype of its weights, and its processor cannot in this one. Serve a float32 copy: agentrl models convert MODEL --dtype float32 --out FOLDER, and start the server with FOLDER."
      : "Correct what the server names.";
    const message = `${session.connection.where}: a first pass of 4 tokens failed, saying ${said}. ${remedy}`;
    throw new ConfigError("ENGINE_UNFIT", message, { cause: error });
  } finally {
    await model.unload();
  }
}
