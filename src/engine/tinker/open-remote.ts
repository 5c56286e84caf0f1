import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { isAdapterFolder } from "../../models/lora/adapter-folder.ts";
import { requireAsRecorded } from "../../models/recorded-files.ts";
import type { StoredType } from "../../models/stored-numbers.ts";
import { type Tokenizer, loadTokenizer } from "../../text/tokenizer.ts";
import type { TrainingRow } from "../engine.ts";
import type { FreshLora } from "../local/engine-files.ts";
import { type Connection, connect } from "./connection.ts";
import {
  type Dialect,
  type ServerFacts,
  dialectNamed,
  dialectNames,
  dialectOf,
} from "./dialect.ts";
import { requireExpressible } from "./limits.ts";
import { nativeLoss } from "./native-loss.ts";
import type { TinkerEngineOptions } from "./options.ts";
import { baseOfRemote, exportMerged, isRemoteFolder } from "./remote-files.ts";
import { type RemoteModel, type RemoteSession, createModel } from "./remote-model.ts";

/** A session with fresh adapters, and what is known here of the model. */
export interface Remote {
  session: RemoteSession;
  policy: RemoteModel;
  tokenizer: Tokenizer;
  maxPositions: number;
  vocabSize: number;
  /** The folder names weights at the server. */
  isSaved: boolean;
  base: string;
  /** Writes a standalone model into a folder; nothing where the server exports no adapter. */
  export(folder: string, archive: Uint8Array | URL | null, dtype: StoredType): Promise<void>;
  endHeartbeat(): void;
}

const factsSchema = z.looseObject({
  supported_models: z.array(z.looseObject({ model_name: z.string() })),
});

const sessionSchema = z.object({ session_id: z.string(), error_message: z.string().nullish() });

const configSchema = z.object({
  max_position_embeddings: z.int().positive(),
  vocab_size: z.int().positive(),
});

/** The SDK's interval; SkyRL unloads the models of a session after 300 s without. */
const HEARTBEAT_MS = 10_000;

/** The SDK whose wire format is spoken. */
const SDK_VERSION = "0.25.0";

export async function openRemote(options: TinkerEngineOptions): Promise<Remote> {
  const { model: folder, lora, server } = options;
  requireExpressible(lora);
  const isSaved = isRemoteFolder(folder);
  const base = await baseOf(options);
  await requireAsRecorded(base);
  const tokenizer = await loadTokenizer(base);
  const config = checkOptions(configSchema, await readJson(join(base, "config.json")));
  if (config.problem !== null) {
    const { path, message } = config.problem;
    const problem = `${join(base, "config.json")}: ${path.join(".")} ${message}. The remote engine needs the policy's tokenizer and config.json here.`;
    throw new ConfigError("ENGINE_UNFIT", problem);
  }
  const { max_position_embeddings: positions, vocab_size: vocabSize } = config.value;
  const connection = connect(server);
  const facts = await connection.call("get_server_capabilities", factsSchema);
  const listed = modelOf(facts, server.model, connection.where);
  if (server.sampler === undefined) requireSampling(listed, connection.where);
  const limit = Number(listed["max_context_length"] ?? positions);
  const { session_id: sessionId } = await connection.call("create_session", sessionSchema, {
    body: { tags: [], user_metadata: {}, sdk_version: SDK_VERSION, type: "create_session" },
  });
  const timer = heartbeat(connection, sessionId);
  const named = server.dialect === null ? dialectOf(facts) : dialectNamed(server.dialect);
  const start = { connection, sessionId, baseModel: listed.model_name };
  const next = { model: 0, sampler: 0 };
  try {
    const dialect: Dialect = named ?? (await probedDialect({ ...start, next }, lora));
    const session: RemoteSession = { ...start, dialect, next };
    return {
      session,
      policy: await createModel(session, lora),
      tokenizer,
      maxPositions: Math.min(positions, limit),
      vocabSize,
      isSaved,
      base,
      export: (into, archive, dtype) => exportMerged(into, { archive, base, dtype }),
      endHeartbeat: () => {
        clearInterval(timer);
      },
    };
  } catch (error) {
    clearInterval(timer);
    throw error;
  }
}

async function baseOf({ model, base }: TinkerEngineOptions): Promise<string> {
  if (isRemoteFolder(model)) return baseOfRemote(model);
  if (base !== undefined) return base;
  if (!isAdapterFolder(model)) return model;
  const message = `policy.from is ${model}, a folder of adapters: the Tinker API cannot send adapters to a server. Start from the base, or use engine.name: local.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** @throws {ConfigError} ENGINE_UNFIT: some servers accept any name in silence. */
function modelOf(
  { supported_models: models }: ServerFacts,
  name: string | null,
  where: string,
): ServerFacts["supported_models"][number] {
  const names = models.map(({ model_name }) => model_name);
  const found = name === null ? models : models.filter(({ model_name }) => model_name === name);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const hint =
    name === null ? `Set engine.model to one of: ${names.join(", ")}.` : suggest(name, names);
  const message = `engine.model is ${name === null ? "not set" : JSON.stringify(name)}: ${where} has ${models.length} models. ${hint}`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** @throws {ConfigError} ENGINE_UNFIT for a server that says that it trains alone (TuFT without its sampler). */
function requireSampling(
  { sampleable, capabilities }: ServerFacts["supported_models"][number],
  where: string,
): void {
  const lacks = Array.isArray(capabilities) && !capabilities.includes("sampling");
  if (sampleable !== false && !lacks) return;
  const message = `engine.url: ${where} trains, but does not sample. Set engine.sampler to a server that does, or start it with sampling.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** A failure is not reported: the next call tells more. */
function heartbeat(connection: Connection, sessionId: string): NodeJS.Timeout {
  const body = { session_id: sessionId, type: "session_heartbeat" };
  return setInterval(() => {
    connection.call("session_heartbeat", z.unknown(), { body }).catch(() => undefined);
  }, HEARTBEAT_MS).unref();
}

const STILL = {
  learningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: Infinity,
};

/**
 * Whether an unknown server sums losses or divides by weights: gradient norms of one row with weights 1 and 2, on discarded adapters.
 * @throws {ConfigError} ENGINE_UNFIT when the server does not report the gradient's norm.
 */
async function probedDialect(
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
  const message = `${session.connection.where}: loss aggregation unknown (sum or mean) (gradient norms ${one} and ${two} for weights 1 and 2). Name the server: engine.dialect, one of ${dialectNames.join(", ")}.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}
