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

/** Makes a model to train. Gradients that an earlier model left at the server are discarded first. @throws as `createModel` and `discardedNorms` */
export async function createPolicy(
  session: RemoteSession,
  lora: FreshLora | null,
): Promise<RemoteModel> {
  if (session.dialect.keepsGradients && lora !== null) await discardedNorms(session, lora, [1]);
  return createModel(session, lora);
}

/**
 * Whether an unknown server sums losses or divides by weights: gradient norms of one row with weights 1 and 2, on discarded adapters.
 * The first norm is not read: SkyRL with JAX adds gradients to it that an earlier client left.
 * @throws {ConfigError} ENGINE_UNFIT when the server does not report the gradient's norm; as `discardedNorms`.
 */
export async function probedDialect(
  session: Omit<RemoteSession, "dialect">,
  lora: FreshLora | null,
): Promise<Dialect> {
  if (lora === null) return requireFullWeights(null, session.connection.where);
  const plain = { ...dialectNamed("tinker"), alpha: () => lora.alpha };
  const [, one = NaN, two = NaN] = await discardedNorms({ ...session, dialect: plain }, lora, [1, 1, 2]); // prettier-ignore
  const ratio = two / one;
  // SkyRL with JAX is the known server that divides; another would be treated alike.
  if (Math.abs(ratio - 1) < 0.05) return dialectNamed("skyrl-jax");
  if (Math.abs(ratio - 2) < 0.1) return dialectNamed("tinker");
  const message = `${session.connection.where}: loss aggregation unknown (sum or mean) (gradient norms ${one} and ${two} for weights 1 and 2). Name the server: engine.dialect, one of ${dialectNames.join(", ")}.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/**
 * Passes of one row on adapters that are then unloaded, each with a step at learning rate 0.
 * @returns the gradient's norm for each weight of the row's tokens; NaN where the server does not say it.
 * @throws {ConfigError} ENGINE_UNFIT where the server cannot compute the model.
 */
export async function discardedNorms(
  session: RemoteSession,
  lora: FreshLora,
  weights: readonly number[],
): Promise<number[]> {
  const model = await createModel(session, lora);
  try {
    const norms: number[] = [];
    for (const weight of weights) {
      const ids = [1, 2, 3, 4];
      const row = {
        inputs: ids,
        targets: [2, 3, 4, 5],
        fields: { weights: ids.map(() => weight) },
      };
      await model.forwardBackward([row], likelihood);
      norms.push((await model.optimStep(STILL)).gradNorm);
    }
    return norms;
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

const likelihood: NativeLoss = {
  lossFn: "cross_entropy",
  config: {},
  row: (row: TrainingRow) => wireRow(row, { weights: row.fields.weights }),
};
