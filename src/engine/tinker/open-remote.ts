import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { isAdapterFolder } from "../../models/lora/adapter-folder.ts";
import { requireAsRecorded } from "../../models/recorded-files.ts";
import { type Tokenizer, loadTokenizer } from "../../text/tokenizer.ts";
import { type Connection, connect } from "./connection.ts";
import { type ServerFacts, dialectNamed, dialectOf } from "./dialect.ts";
import { requireExpressible, requireFullWeights } from "./limits.ts";
import type { TinkerEngineOptions } from "./options.ts";
import { createPolicy, probedDialect } from "./probe.ts";
import { baseOfRemote, isRemoteFolder } from "./remote-files.ts";
import type { RemoteModel, RemoteSession } from "./remote-model.ts";

/** A session with a fresh policy, and what is known here of the model. */
export interface Remote {
  session: RemoteSession;
  policy: RemoteModel;
  tokenizer: Tokenizer;
  maxPositions: number;
  vocabSize: number;
  /** The folder names weights at the server. */
  isSaved: boolean;
  base: string;
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
  if (lora !== null) requireExpressible(lora);
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
  const named = server.dialect === null ? dialectOf(facts) : dialectNamed(server.dialect);
  if (lora === null) requireFullWeights(named, connection.where);
  if (named !== null) server.requireFit?.(named);
  const limit = Number(listed["max_context_length"] ?? positions);
  const { session_id: sessionId } = await connection.call("create_session", sessionSchema, {
    body: { tags: [], user_metadata: {}, sdk_version: SDK_VERSION, type: "create_session" },
  });
  const timer = heartbeat(connection, sessionId);
  const start = { connection, sessionId, baseModel: listed.model_name };
  const next = { model: 0, sampler: 0 };
  try {
    const dialect = named ?? (await probedDialect({ ...start, next }, lora));
    if (named === null) server.requireFit?.(dialect);
    const session: RemoteSession = { ...start, dialect, next };
    return {
      session,
      policy: await createPolicy(session, lora),
      tokenizer,
      maxPositions: Math.min(positions, limit),
      vocabSize,
      isSaved,
      base,
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
