import { ConfigError } from "../../base/errors.ts";
import type { FreshLora } from "../local/engine-files.ts";
import type { TrainingRow } from "../engine.ts";
import { type Dialect, dialectNamed, dialectNames } from "./dialect.ts";
import { nativeLoss } from "./native-loss.ts";
import { createModel, type RemoteSession } from "./remote-model.ts";

/** Learns nothing. */
const STILL = {
  learningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: Infinity,
};

/**
 * Finds out whether an unknown server sums losses or divides by weights: the gradient of one row with weights 1 and with weights 2, on
 * adapters that are thrown away. Of a sum the second is twice the first.
 * @throws {ConfigError} ENGINE_UNFIT when the server does not report the gradient's norm.
 */
export async function probedDialect(
  session: Omit<RemoteSession, "dialect">,
  lora: FreshLora,
): Promise<Dialect> {
  const plain = { ...dialectNamed("tinker"), alpha: () => lora.alpha };
  const model = await createModel({ ...session, dialect: plain }, lora);
  const norms: number[] = [];
  for (const weight of [1, 2]) {
    const ids = [1, 2, 3, 4];
    const rows: TrainingRow[] = [
      { inputs: ids, targets: [2, 3, 4, 5], fields: { weights: ids.map(() => weight) } },
    ];
    const loss = nativeLoss({ name: "cross-entropy", options: {} }, rows, plain);
    if (loss !== null) await model.forwardBackward(rows, loss);
    norms.push((await model.optimStep(STILL)).gradNorm);
  }
  await model.unload();
  const [one = NaN, two = NaN] = norms;
  const ratio = two / one;
  // SkyRL with JAX is the known server that divides; another would be treated alike.
  if (Math.abs(ratio - 1) < 0.05) return dialectNamed("skyrl-jax");
  if (Math.abs(ratio - 2) < 0.1) return dialectNamed("tinker");
  throw new ConfigError(
    "ENGINE_UNFIT",
    `${session.connection.where}: does not tell how it adds up losses (gradient norms ${one} and ${two} for weights 1 and 2). Name the server: engine.dialect, one of ${dialectNames.join(", ")}.`,
  );
}
