import type { AdamOptions } from "../../autodiff/adamw.ts";
import { ConfigError } from "../../base/errors.ts";
import { losses } from "../../losses/index.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { TEMPERATURES, type TrainingRow } from "../engine.ts";
import { type Dialect, fullWeightDialects } from "./dialect.ts";

/** A largest gradient norm that clips nothing. */
const NO_CLIPPING = 1e6;

/** @throws {ConfigError} ENGINE_UNFIT for clipping and weight decay that the server would ignore; decay of moments and epsilon are its own. */
export function requireHonoured(adam: AdamOptions, { adam: honoured, name }: Dialect): void {
  const refuse = (key: string, value: number, remedy: string): ConfigError =>
    new ConfigError(
      "ENGINE_UNFIT",
      `optimizer.${key} is ${value}: a ${name} server ignores it. ${remedy}`,
    );
  if (!honoured.includes("gradClipNorm") && adam.gradClipNorm < NO_CLIPPING) {
    const remedy = `Set optimizer.gradClipNorm: ${NO_CLIPPING} (no clipping), or configure clipping at the server.`;
    throw refuse("gradClipNorm", adam.gradClipNorm, remedy);
  }
  if (!honoured.includes("weightDecay") && adam.weightDecay !== 0)
    throw refuse("weightDecay", adam.weightDecay, "Set optimizer.weightDecay: 0.");
}

/** Only log-probabilities at temperature 1 cross the network. @throws {ConfigError} ENGINE_UNFIT for rows at other temperatures. */
export function requireTemperatures(rows: readonly TrainingRow[], dialect: Dialect): void {
  const other = rows.flatMap((row) => row.fields[TEMPERATURES] ?? []).find((each) => each !== 1);
  if (other !== undefined) requireTemperature(other, dialect);
}

/** @throws {ConfigError} ENGINE_UNFIT for training on draws at a temperature that the server would ignore. */
export function requireTemperature(
  temperature: number,
  { temperatures, name }: { temperatures: boolean; name: string },
): void {
  if (temperature === 1 || temperatures) return;
  const message = `sampling.temperature is ${temperature}: a ${name} server computes log-probabilities at temperature 1 alone, so that losses would compare another distribution than the one that was drawn from. Set sampling.temperature: 1, or use agentrl serve engine, or engine.name: local.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** The options of the optimiser that stay the server's own, for manifests, with commas; empty: none. */
export function ignoredAdam({ adam }: Dialect): string {
  const all = ["beta1", "beta2", "epsilon", "weightDecay", "gradClipNorm"] as const;
  return all.filter((key) => !adam.includes(key)).join(", ");
}

export const MLP = ["gate_proj", "up_proj", "down_proj"];
export const ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"];

/** @throws {ConfigError} ENGINE_UNFIT when the Tinker API cannot express such adapters. */
export function requireExpressible({
  targets,
  rslora,
}: Pick<LoraConfig, "targets" | "rslora">): void {
  const known = [MLP, ATTENTION].filter((group) => group.some((name) => targets.includes(name)));
  const isWhole = [...known.flat()].sort().join() === [...targets].sort().join();
  if (isWhole && !rslora) return;
  const [key, found] = rslora ? ["rslora", "true"] : ["targets", `[${targets.join(", ")}]`];
  const message = `policy.lora.${key} is ${found}: servers of the Tinker API train all attention layers (${ATTENTION.join(", ")}), all MLP layers (${MLP.join(", ")}) or both, scaled by alpha / rank. Remove policy.lora.${key}.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/**
 * All weights are trained as rank 0, which some servers would take for adapters.
 * @param dialect null: neither the recipe nor the server names it.
 * @throws {ConfigError} ENGINE_UNFIT
 */
export function requireFullWeights(dialect: Dialect | null, where: string): Dialect {
  if (dialect !== null && dialect.fullWeights !== "none") return dialect;
  const known = fullWeightDialects().join(" or ");
  const found =
    dialect === null ? "does not say which server it is" : `is a ${dialect.name} server, which trains adapters alone`; // prettier-ignore
  const message = `policy.lora is not set, so the recipe trains all weights, and ${where} ${found}. Servers that train all weights: ${known} (skyrl: its backend is fsdp or megatron, not jax). ${dialect === null ? "Name it with engine.dialect" : "Use one of these"}, or set policy.lora: {}, or engine.name: local.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** Only log-probabilities cross the network. @throws {ConfigError} ENGINE_UNFIT for a loss that reads entropy or values. */
export function requireComputable(loss: LossSpec): void {
  const reads = losses.get(loss.name, "loss").reads(loss.options);
  const other = reads.find((each) => each !== "logprobs");
  if (other === undefined && loss.joined === undefined) return;
  const [found, remedy] =
    other === "entropy"
      ? ["an entropy bonus", "Set entropyCoef: 0"]
      : ["a critic's value loss", "Use an algorithm without a critic"];
  const message = `loss ${loss.name}: has ${found}, and a server of the Tinker API sends log-probabilities of targets alone. ${remedy}, or use engine.name: local.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** A server that holds one model has no reference, no snapshot and no base beside the policy. */
export function oneModelOnly(where: string, what: string): ConfigError {
  const message = `${what}: ${where} trains all weights of one model, and holds no other beside it. Set klCoef: 0 and remove what asks for another model (klReward, snapshots in models, a preference loss with a reference), or set policy.lora: {}, or use agentrl serve engine, or engine.name: local.`;
  return new ConfigError("ENGINE_UNFIT", message);
}
