import { ConfigError, DataError, ExternalError, RolloutError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { type RolloutEngine, temperatureField } from "../engine/engine.ts";
import type { ChatMessage, DrawRequest } from "../http/chat-messages.ts";
import { chatClient } from "../http/chat.ts";
import { completionsClient } from "../http/completions.ts";
import { embeddingsClient } from "../http/embeddings.ts";
import type { HttpEnvironment } from "../http/endpoint.ts";
import type { Encoder } from "../retrieval/dense/encoder.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { AskedTokens, Role, Roles, Vocabulary } from "../trajectory/role.ts";
import type { Rendering } from "./chat-rendering.ts";
import type { EndpointSettings } from "./model-settings.ts";
import { engineLogprobs } from "./policy.ts";

/** A role, and how to close it. */
export type OpenedRole = { role: Role; close(): Promise<void> };

/** Roles that are opened at first use. */
export interface OpenedRoles extends Roles {
  close(): Promise<void>;
}

/** @param openers by name; each is called at most once. */
export function lazyRoles(
  openers: Readonly<Record<string, () => Promise<OpenedRole>>>,
): OpenedRoles {
  const opened = new Map<string, Promise<OpenedRole>>();
  const names = Object.keys(openers);
  const open = (name: string, opener: () => Promise<OpenedRole>): Promise<OpenedRole> => {
    const known = opened.get(name) ?? opener();
    opened.set(name, known);
    return known;
  };
  return {
    names,
    get(name, where) {
      const opener = Object.hasOwn(openers, name) ? openers[name] : undefined;
      if (opener === undefined) {
        const message = `${where} is "${name}"; no such model. ${suggest(name, names)} Add it to models.`;
        throw new ConfigError("PART_UNKNOWN", message);
      }
      return {
        name,
        complete: async (...asked) => (await open(name, opener)).role.complete(...asked),
        logprobs: async (...asked) => (await open(name, opener)).role.logprobs(...asked),
        async embed(...asked) {
          const { role } = await open(name, opener);
          if (role.embed === undefined) throw cannot(name, "embed texts");
          return role.embed(...asked);
        },
        tokenLogprobs: async (...asked) =>
          (await open(name, opener)).role.tokenLogprobs?.(...asked) ?? null,
      };
    },
    async close() {
      const roles = await Promise.allSettled(opened.values());
      for (const each of roles) if (each.status === "fulfilled") await each.value.close();
    },
  };
}

function cannot(name: string, what: string): ConfigError {
  const message = `models.${name}: this model cannot ${what}. An endpoint and an encoder embed texts ({ endpoint: { baseUrl, model } }, { encoder: NAME }); a folder of a language model and an endpoint write them.`;
  return new ConfigError("ROLE_CANNOT", message);
}

/** A text embedding model. */
export function encoderRole(
  name: string,
  { encodePassages, dimensions }: Pick<Encoder, "encodePassages" | "dimensions">,
): Role {
  const refuse = () => Promise.reject(cannot(name, "write or score text"));
  return {
    name,
    complete: refuse,
    logprobs: refuse,
    async embed(texts, signal) {
      const vectors = await encodePassages(texts, signal);
      return texts.map((_, i) => vectors.slice(i * dimensions, (i + 1) * dimensions));
    },
  };
}

/** A model of an engine. */
export interface EngineModel {
  engine: Omit<RolloutEngine, "tokenizer">;
  tokenizer: Tokenizer;
  /** Chat rendering of prompts; default: unchanged. */
  rendering?: Rendering | undefined;
  /** The name of a snapshot of weights that the engine keeps; its current weights when absent. A snapshot only scores. */
  kept?: string;
}

export function engineRole(name: string, model: EngineModel): Role {
  const { engine, tokenizer, rendering, kept = "policy" } = model;
  const promptIds = (prompt: string): number[] =>
    tokenizer.encodeStart(rendering?.opening(prompt) ?? prompt);
  const score = engineLogprobs(engine, kept);
  return {
    name,
    async complete(prompt, { maxTokens, temperature = 0, stop = [], seed = 0, signal }) {
      signal.throwIfAborted();
      if (kept !== "policy") {
        const message = `models.${name} is a snapshot of the policy, which can only score text. Use another model here.`;
        throw new ConfigError("RECIPE_BAD_VALUE", message);
      }
      const request = { promptIds: promptIds(prompt), maxTokens, temperature, seed };
      const { ids } = await asRolloutError(name, () =>
        engine.sample({
          ...request,
          stopIds: tokenizer.endIds,
          stopStrings: stop,
          topP: 1,
          topK: 0,
          sequence: null,
        }),
      );
      return untilStop(tokenizer.decode(ids.filter((id) => !tokenizer.endIds.includes(id))), stop);
    },
    async logprobs(prompt, text, signal) {
      signal.throwIfAborted();
      const before = promptIds(prompt);
      const ids = tokenizer.encode(text);
      if (before.length + ids.length > engine.capabilities.maxPositions) return null;
      return ids.length === 0 ? [] : score(before, ids);
    },
    async tokenLogprobs(sequences, vocabulary, signal) {
      signal.throwIfAborted();
      requireSameVocabulary(name, tokenizer, vocabulary);
      const fits = ({ ids }: AskedTokens): boolean =>
        ids.length > 1 && ids.length <= engine.capabilities.maxPositions;
      const rows = sequences
        .filter(fits)
        .map(({ ids, isAsked, temperatures = [] }) => ({
          inputs: ids.slice(0, -1),
          targets: ids.slice(1),
          fields: {
            weights: isAsked.slice(1).map(Number),
            ...temperatureField(temperatures.slice(1)),
          },
        }));
      const scored = rows.length === 0 ? [] : await engine.logprobs(rows, kept);
      let at = 0;
      return sequences.map((each) => (fits(each) ? [NaN, ...(scored[at++] ?? [])] : null));
    },
  };
}

const sameVocabularies = new WeakMap<Vocabulary, WeakSet<Vocabulary>>();

/** @throws {ConfigError} VOCABULARIES_DIFFER naming the first token that does. */
function requireSameVocabulary(name: string, own: Vocabulary, other: Vocabulary): void {
  const known = sameVocabularies.get(own) ?? new WeakSet();
  if (own === other || known.has(other)) return;
  const count = Math.max(own.vocabSize, other.vocabSize);
  for (let id = 0; id < count; id++) {
    const [ours, theirs] = [own, other].map((each) =>
      id < each.vocabSize ? Buffer.from(each.bytes(id)).toString() : null,
    );
    if (ours === theirs) continue;
    const message = `models.${name}: token ${id} is ${JSON.stringify(ours)}, and ${JSON.stringify(theirs)} for the policy (${own.vocabSize} and ${other.vocabSize} tokens). A model that reads the policy's tokens needs the same vocabulary: take a teacher of the policy's family.`;
    throw new ConfigError("VOCABULARIES_DIFFER", message);
  }
  sameVocabularies.set(own, known.add(other));
}

/** A model behind a server. It cannot score a given text; it embeds texts where its server has `POST /embeddings`. */
export function endpointRole(
  name: string,
  settings: EndpointSettings,
  environment?: HttpEnvironment,
): Role {
  const where = `models.${name}`;
  const ask = asker(where, settings, environment);
  return {
    name,
    async complete(prompt, { maxTokens, temperature = 0, stop = [], seed, signal }) {
      signal.throwIfAborted();
      const { text, finishReason } = await asRolloutError(name, () =>
        ask(prompt, {
          maxTokens,
          temperature,
          signal,
          extra: settings.extra,
          stop: stop.length === 0 ? undefined : stop,
          seed,
        }),
      );
      if (finishReason === "content_filter") {
        const message = `${where}: the server's content filter blocked the text.`;
        throw new RolloutError("COMPLETION_FILTERED", message);
      }
      return untilStop(text, stop);
    },
    logprobs: () => Promise.resolve(null),
    embed: (texts, signal) =>
      asRolloutError(name, () => embeddingsClient(where, settings)(texts, signal)),
  };
}

type Ask = (
  prompt: string,
  draw: DrawRequest,
) => Promise<{ text: string; finishReason: string | null }>;

function asker(where: string, settings: EndpointSettings, environment?: HttpEnvironment): Ask {
  const { api, system } = settings;
  const caller = { name: where, nameOf: (key: string): string => `${where}.endpoint.${key}` };
  if (api === "completions") {
    const client = completionsClient(caller, settings, environment);
    return (prompt, draw) => client.complete({ prompt, ...draw });
  }
  const client = chatClient(caller, settings, environment);
  const start: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  return (prompt, draw) =>
    client.complete({ messages: [...start, { role: "user", content: prompt }], ...draw });
}

/** A model's refusal fails only this request. */
async function asRolloutError<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isTooLong = error instanceof DataError && error.code === "PROMPT_TOO_LONG";
    if (!isTooLong && !(error instanceof ExternalError)) throw error;
    throw new RolloutError(error.code, `models.${name}: ${error.message}`, { cause: error });
  }
}

function untilStop(text: string, stop: readonly string[]): string {
  const starts = stop.map((each) => text.indexOf(each)).filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...starts));
}
