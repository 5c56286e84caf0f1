import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { FreshLora } from "../local/engine-files.ts";
import { refusalBy } from "./connection.ts";
import { ATTENTION, MLP } from "./limits.ts";
import { type RemoteModel, type RemoteSession, remoteModel, submitted } from "./remote-model.ts";

const created = z.object({
  model_id: z.string(),
  lora_config: z.object({ rank: z.number().nullish(), alpha: z.number().nullish() }).nullish(),
});

/**
 * Makes a model: fresh adapters over the base, or (`lora` null) one whose weights are all trained.
 * @throws {ConfigError} ENGINE_UNFIT when the server's scale of adapters differs from the recipe's, or when it does not train all weights.
 */
export function createModel(session: RemoteSession, lora: FreshLora | null): Promise<RemoteModel> {
  return lora === null ? createWhole(session) : createAdapters(session, lora);
}

async function createAdapters(session: RemoteSession, lora: FreshLora): Promise<RemoteModel> {
  const { connection, dialect } = session;
  const { rank, alpha, seed, targets } = lora;
  const has = (...names: string[]): boolean => names.every((name) => targets.includes(name));
  const answer = await asked(session, {
    rank,
    seed: seed % 2 ** 31,
    train_unembed: false,
    train_mlp: has(...MLP),
    train_attn: has(...ATTENTION),
    ...dialect.loraConfig({ alpha }),
  });
  const found = answer.lora_config?.alpha ?? dialect.alpha({ rank, alpha });
  const model = remoteModel(session, answer.model_id, found);
  if (found === null || found === alpha) return model;
  await model.unload();
  const message = `policy.lora.alpha is ${alpha}: ${connection.where} scales adapters of rank ${rank} by alpha ${found}, whatever a client asks. Set policy.lora.alpha: ${found}.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** Rank 0. Source: SkyRL 0.4.0, skyrl_train_backend.py `create_model`; jax.py refuses it. */
async function createWhole(session: RemoteSession): Promise<RemoteModel> {
  const { where } = session.connection;
  const unfit = (what: string): ConfigError =>
    new ConfigError(
      "ENGINE_UNFIT",
      `policy.lora is not set, so the recipe trains all weights (rank 0), and ${where} ${what}. SkyRL trains all weights with its backends fsdp and megatron, one model at a time, and not with jax. Use such a server without another model, or set policy.lora: {}, or engine.name: local.`,
    );
  const layers = { train_unembed: true, train_mlp: true, train_attn: true };
  const answer = await asked(session, { rank: 0, ...layers }).catch((error: unknown) => {
    const said = refusalBy(error);
    throw said === null ? error : unfit(`refuses it, saying ${said}`);
  });
  const model = remoteModel(session, answer.model_id, null);
  const rank = answer.lora_config?.rank ?? 0;
  if (rank === 0) return model;
  await model.unload();
  throw unfit(`made adapters of rank ${rank} instead`);
}

async function asked(
  session: RemoteSession,
  lora_config: Readonly<Record<string, unknown>>,
): Promise<z.output<typeof created>> {
  const { connection, dialect, sessionId, baseModel } = session;
  const submission = await connection.call("create_model", submitted, {
    repeats: dialect.repeats,
    body: {
      session_id: sessionId,
      model_seq_id: session.next.model++,
      base_model: baseModel,
      lora_config,
      type: "create_model",
    },
  });
  return created.parse((await connection.future(submission.request_id)).json);
}
