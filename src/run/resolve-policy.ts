import { ConfigError, DataError } from "../base/errors.ts";
import { sha256File } from "../base/files.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Answerer } from "../evaluate/evaluate.ts";
import { readAnswersById } from "../evaluate/predictions.ts";
import type { Meter } from "../http/meter.ts";
import { endpointPolicy } from "../rollout/endpoint/endpoint-policy.ts";
import type { Policy } from "../rollout/policy.ts";
import { baseFolder, openEngine, policyFolder, policyOf, renderingFacts } from "./assemble.ts";
import { hashOfPolicy } from "./folder/policy-hash.ts";
import type { PolicyOptions } from "./bases.ts";
import type { RoleOptions } from "./roles.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** What an evaluation measures, as results name it. */
export interface PolicyIdentity {
  /** Folder, model of the hub, address of a server, or file. */
  from: string;
  /** Of a model's files or of the predictions; absent for a server, whose weights nobody sees. */
  sha256?: string;
  /** As the server names it. */
  model?: string;
  /** Of a model that was run here with other matrices than its own. */
  samplingWeights?: string;
}

/** What an evaluation measures, found but not loaded. */
export interface PolicyUnderTest {
  identity: PolicyIdentity;
  /** How prompt and replies are put to it, for the fingerprint; undefined: as they are. */
  rendering: unknown;
  /** Rollouts under way together; undefined: as many as suit the engine. */
  window?: number;
  open(environment: Environment): Promise<OpenedPolicy>;
}

/** A policy ready to be asked. */
export interface OpenedPolicy {
  /** Either writes messages, or has answered already. */
  policy: Policy | Answerer;
  /** What a server was asked. */
  meter?: Meter;
  /** The engine and the model's folder, where the policy is run here. */
  held?: NonNullable<RoleOptions["policy"]>;
  close(): Promise<void>;
}

/**
 * Finds what `policy` names: a model, a server or a file of answers.
 * @throws {ConfigError} RECIPE_BAD_VALUE when it names two of them.
 */
export async function resolvePolicy(
  settings: Settings,
  download: PolicyOptions,
): Promise<PolicyUnderTest> {
  const { endpoint, predictions, from, chat } = settings.policy;
  // A chat template is a folder's: what is asked elsewhere has none here.
  const template = endpoint === undefined && predictions === undefined ? undefined : chat;
  // What a recipe would train (`fresh`, `lora`) is nothing to an evaluation.
  const kinds = { endpoint, predictions, chat: template };
  const named = Object.entries(kinds).filter(([, value]) => value !== undefined);
  if (named.length > 1) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `policy has ${named.map(([key]) => `"${key}"`).join(" and ")}: it can be one of them. Take the others out.`,
    );
  }
  if (endpoint !== undefined) return testedEndpoint(endpoint);
  if (predictions !== undefined) return testedPredictions(predictions);
  return testedModel(settings, from, download);
}

async function testedModel(
  settings: Settings,
  from: string,
  download: PolicyOptions,
): Promise<PolicyUnderTest> {
  const model = await policyFolder(from, download);
  const hash = await hashOfPolicy(model, await baseFolder(model, download));
  const { samplingWeights } = settings.engine;
  return {
    identity: {
      from,
      sha256: hash,
      // A policy that is rounded answers otherwise.
      samplingWeights: samplingWeights === "float32" ? undefined : samplingWeights,
    },
    rendering: await renderingFacts(settings, model),
    async open(environment) {
      const engine = await openEngine(settings, model, { trains: false });
      try {
        const policy = await policyOf(engine, settings, model, environment);
        return { policy, held: { engine, model }, close: () => engine.close() };
      } catch (error) {
        await engine.close();
        throw error;
      }
    },
  };
}

function testedEndpoint(endpoint: NonNullable<Settings["policy"]["endpoint"]>): PolicyUnderTest {
  const { baseUrl, model, api, system, maxTokens, extra } = endpoint;
  return {
    identity: { from: baseUrl, model },
    rendering: { api, extra, system, maxTokens },
    // Searches and the writing of rows continue while requests wait for their turn.
    window: Math.ceil(endpoint.concurrency * 1.25),
    open: ({ protocol }) => {
      if (api === "completions" && protocol.writeCalls !== undefined) {
        throw new ConfigError(
          "RECIPE_BAD_VALUE",
          `environment.protocol leaves calls of tools to the server, and policy.endpoint.api is "completions", which has no place for them. Set it to chat, or let the protocol write calls as text.`,
        );
      }
      const { policy, meter } = endpointPolicy(endpoint);
      return Promise.resolve({ policy, meter, close: () => Promise.resolve() });
    },
  };
}

async function testedPredictions({
  file,
  answerField,
  idField,
}: NonNullable<Settings["policy"]["predictions"]>): Promise<PolicyUnderTest> {
  const answers = await readAnswersById({
    predictions: file,
    predictionField: answerField,
    idField,
  });
  const answer: Answerer = (task, sample) => {
    const given = answers.get(task.id);
    if (given === undefined) {
      throw new DataError(
        "PREDICTIONS_UNMATCHED",
        `${file}: has no answer to the question ${JSON.stringify(task.id)}. A question that was not answered has null there; check that file and dataset are of one split.`,
      );
    }
    return Promise.resolve({
      id: `${task.id}/${sample}`,
      taskId: task.id,
      groupId: task.id,
      purpose: "eval",
      seed: 0,
      calls: [],
      turns: [],
      answer: given,
      end: given === null ? "no-answer" : "answered",
      rewards: [],
      reward: null,
    });
  };
  const identity = { from: file, sha256: await sha256File(file) };
  const opened = { policy: answer, close: () => Promise.resolve() };
  return { identity, rendering: undefined, open: () => Promise.resolve(opened) };
}
