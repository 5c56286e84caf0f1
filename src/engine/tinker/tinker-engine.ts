/**
 * A model behind a Tinker API server (SkyRL, TuFT, Open-RL, the hosted service, `agentrl serve engine`) as an engine. The server holds
 * weights, computes gradients and steps; losses that it lacks are computed here from log-probabilities, in two passes (docs/servers.md).
 */
import type { AdamOptions } from "../../autodiff/adamw.ts";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { losses } from "../../losses/index.ts";
import type { LossSpec } from "../../losses/loss.ts";
import {
  type EngineCapabilities,
  type ForwardBackwardResult,
  type PolicyEngine,
  type SamplingClient,
  type TrainedName,
  type TrainingRow,
  isScored,
} from "../engine.ts";
import { adapterSampling, requireSameModel } from "./adapter-sampling.ts";
import { ignoredAdam, oneModelOnly, requireComputable, requireHonoured, requireTemperatures } from "./limits.ts"; // prettier-ignore
import { checkRows } from "./check-rows.ts";
import { lossGradients } from "./loss-gradients.ts";
import { linearLoss, nativeLoss } from "./native-loss.ts";
import { openRemote } from "./open-remote.ts";
import type { TinkerEngineOptions } from "./options.ts";
import { createModel } from "./create-model.ts";
import { createPolicy } from "./probe.ts";
import { ARCHIVE, exportMerged, readRemote, unpackModel, writeRemote } from "./remote-files.ts";
import type { RemoteModel } from "./remote-model.ts";
import { type Draw, remoteSampling } from "./remote-sampling.ts";

/**
 * Connects, and makes adapters, or a model whose weights are all trained; where another server samples, checks that both hold one model.
 * @throws {ConfigError} ENGINE_UNFIT when the server cannot do what is asked. @throws {ExternalError} as `HttpClient`; ENGINE_REFUSED
 */
export async function openTinkerEngine(options: TinkerEngineOptions): Promise<PolicyEngine> {
  const { lora, server } = options;
  const remote = await openRemote(options);
  const { session, tokenizer, maxPositions, vocabSize } = remote;
  const { connection, dialect } = session;
  const gradients = lossGradients();
  const kept = new Map<string, RemoteModel>();
  const state = { model: remote.policy, version: 0, isFresh: true };
  let source: Promise<Draw> | null = null;
  const limits = { tokenizer, maxPositions };
  const sampling =
    server.sampler === undefined
      ? remoteSampling(session, limits)
      : await adapterSampling(server.sampler, limits, server).catch((error: unknown) => {
          remote.endHeartbeat();
          throw error;
        });
  const drawing = (): Promise<Draw> => (source ??= sampling.weightsOf(state.model, state.version));
  const changed = (version: number): void => {
    state.version = version;
    state.isFresh = false;
    source = null;
  };
  const isAlone = lora === null && dialect.fullWeights === "one";
  /** Another model beside the policy, at given weights or at those of the base. */
  const another = async (path: string | null, what: string): Promise<RemoteModel> => {
    if (isAlone) throw oneModelOnly(connection.where, what);
    const model = await createModel(session, lora);
    if (path !== null) await model.load(path, false);
    return model;
  };
  const modelNamed = async (name: string): Promise<RemoteModel> => {
    if (name === "policy") return state.model;
    const known = kept.get(name);
    if (known !== undefined) return known;
    if (name !== "base") {
      const message = `log-probabilities of "${name}": there are no weights with that name. Known: policy, base${[...kept.keys()].map((each) => `, ${each}`).join("")}.`;
      throw new ConfigError("ENGINE_NO_ROLE", message);
    }
    const base = await another(null, "log-probabilities of the base");
    kept.set(name, base);
    return base;
  };
  const samplingClient = async (): Promise<SamplingClient> => {
    const { version } = state;
    const sample = await drawing();
    return { policyVersion: version, sample, forget: () => undefined };
  };
  const engine: PolicyEngine = {
    tokenizer,
    machine: {
      device: "remote",
      server: connection.where,
      model: session.baseModel,
      dialect: dialect.name,
      sampler: server.sampler === undefined ? undefined : new URL(server.sampler.url).origin,
      alpha: lora !== null && remote.policy.alpha === null ? "unknown" : undefined,
      weights: lora === null ? "all" : undefined,
      ignoredByServer: ignoredAdam(dialect) === "" ? undefined : ignoredAdam(dialect),
    },
    get policyVersion() {
      return state.version;
    },
    get capabilities(): EngineCapabilities {
      const { temperatures } = dialect;
      const limits = { maxPositions, vocabSize, temperatures };
      return {
        ...limits,
        adapters: lora !== null,
        losses: losses.names.filter((name) => name !== "value"),
        critic: null,
      };
    },
    async sample(request) {
      return (await drawing())(request);
    },
    forget: () => undefined,
    samplingClient:
      server.sampler === undefined && !dialect.holdsWeights ? undefined : samplingClient,
    async logprobs(rows, name = "policy") {
      const model = await modelNamed(name);
      return scoredOnly(rows, (some) => model.forward(some));
    },
    values: () => Promise.reject(noCritic()),
    async forwardBackward(rows, loss, model: TrainedName = "policy") {
      if (model === "critic") throw noCritic();
      requireComputable(loss);
      return learned(state.model, rows, loss);
    },
    async optimStep(adam: AdamOptions, model: TrainedName = "policy") {
      if (model === "critic") throw noCritic();
      requireHonoured(adam, dialect);
      const { gradNorm } = await state.model.optimStep(adam);
      changed(state.version + 1);
      return { gradNorm };
    },
    async snapshot(name) {
      const path = state.isFresh || isAlone ? null : await state.model.save();
      const copy = await another(path, `a copy of the policy ("${name}")`);
      await kept.get(name)?.unload();
      kept.set(name, copy);
    },
    async save(folder, { optimizer = false, merged = false, dtype = "F32" } = {}) {
      const { base } = remote;
      const facts = { server: connection.where, model: session.baseModel, optimizer, base };
      const path = await state.model.save();
      await writeRemote(folder, { ...facts, path, policyVersion: state.version });
      if (!merged) return;
      const exported = await state.model.archive(join(folder, ARCHIVE));
      if (exported === null) return;
      if (lora !== null) return exportMerged(folder, { exported, base, dtype });
      if (exported === "written") await unpackModel(folder, base);
    },
    async load(folder) {
      const { path, optimizer, policyVersion } = await readRemote(folder, connection.where);
      const former = state.model;
      // Weights are loaded by a model's first call, and some servers have no room for a second model.
      if (isAlone && !former.isUnused) await former.unload();
      if (!isAlone || !former.isUnused) state.model = await createPolicy(session, lora);
      await state.model.load(path, optimizer);
      if (!isAlone) await former.unload();
      changed(policyVersion);
    },
    async close() {
      remote.endHeartbeat();
      await sampling.close();
      await Promise.all([state.model, ...kept.values()].map((model) => model.unload()));
      await gradients.close();
    },
  };
  try {
    if (server.sampler !== undefined) {
      const forward = (rows: readonly TrainingRow[]) => state.model.forward(rows);
      await requireSameModel(await drawing(), forward, { vocabSize, url: server.sampler.url });
    }
    if (remote.isSaved) await engine.load(options.model);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;

  async function learned(
    model: RemoteModel,
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<ForwardBackwardResult> {
    const native = nativeLoss(loss, rows, dialect);
    const first = await scoredOnly(rows, (some) =>
      native === null ? model.forward(some) : model.forwardBackward(some, native),
    );
    const { gradients: gradient, ...result } = await gradients.of(rows, first, loss);
    if (native === null) {
      const parts = rows.flatMap((row, i) => {
        const [logprobs, own] = [first[i], gradient[i]];
        return logprobs === undefined || own === undefined
          ? []
          : [[row, { logprobs, gradient: own }] as const];
      });
      const linear = linearLoss(dialect, new Map(parts));
      const pulled = parts.filter(([, part]) => part.gradient.some((each) => each !== 0));
      if (pulled.length > 0)
        await model.forwardBackward(
          pulled.map(([row]) => row),
          linear,
        );
    }
    return { ...result, logprobs: first };
  }

  /** Sends rows with a scored target alone; NaN for the targets that are not. */
  async function scoredOnly(
    rows: readonly TrainingRow[],
    send: (rows: readonly TrainingRow[]) => Promise<Float32Array[]>,
  ): Promise<Float32Array[]> {
    checkRows(rows, { maxPositions, vocabSize });
    requireTemperatures(rows, dialect);
    const sent = rows.filter((row) => row.targets.some((_, i) => isScored(row, i)));
    const answers = sent.length === 0 ? [] : await send(sent);
    const of = new Map(sent.map((row, i) => [row, answers[i]] as const));
    return rows.map((row) => {
      const answer = of.get(row);
      const scored = new Float32Array(row.targets.length).fill(NaN);
      for (let i = 0; i < scored.length; i++) if (isScored(row, i)) scored[i] = answer?.[i] ?? NaN;
      return scored;
    });
  }

  function noCritic(): ConfigError {
    const message = `${server.url}: servers of the Tinker API have no critic. Use an advantage without values, or engine.name: local.`;
    return new ConfigError("ENGINE_UNFIT", message);
  }
}
