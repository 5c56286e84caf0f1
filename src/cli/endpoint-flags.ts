import { InvalidArgumentError } from "commander";
import { definedValues } from "../base/defined-values.ts";
import { readApiKey } from "../http/api-key.ts";
import { decimal, type Flags, options, wholeNumber } from "./options.ts";
import { usage } from "./usage.ts";

/** Default number of requests at once, as in the settings. */
export const DEFAULT_CONCURRENCY = 8;

/**
 * Options of requests to a model server: the same in every command that asks one.
 * @param defaults.maxTokens where the limit on a reply comes from without its flag.
 * @param defaults.cache the folder of stored replies without its flag.
 */
export function endpointOptions(defaults: { maxTokens: string; cache: string }) {
  return options({
    apiKeyEnv: [
      "<name>",
      "for a server: environment variable with the API key, or none (default: OPENAI_API_KEY)",
    ],
    maxTokens: [
      "<n>",
      `for a server: longest reply in tokens; reasoning models need more (default: ${defaults.maxTokens})`,
      wholeNumber(1),
    ],
    concurrency: [
      "<n>",
      `for a server: requests at once (default: ${DEFAULT_CONCURRENCY})`,
      wholeNumber(1, 1024),
    ],
    timeoutMs: [
      "<n>",
      "for a server: time limit of one attempt in milliseconds, and a quarter of the limit of all (default: 30000)",
      wholeNumber(1, 3_600_000),
    ],
    retries: ["<n>", "for a server: attempts after the first (default: 4)", wholeNumber(0, 20)],
    priceIn: [
      "<amount>",
      "for a server: USD per million prompt tokens; with --price-out the cost is shown",
      decimal(0),
    ],
    priceOut: ["<amount>", "for a server: USD per million completion tokens", decimal(0)],
    cache: [
      "<folder>",
      `for a server: folder of stored replies; an equal request is not sent again (default: ${defaults.cache})`,
      folderName,
    ],
    noCache: ["", "for a server: send every request and store nothing"],
  });
}

/** Options of a model on a server. */
export const SERVED_MODEL_OPTIONS = options({
  model: ["<name>", "for a server: the model, as it names it"],
  api: [
    "<api>",
    "for a server: chat: messages with the protocol's tags (the default); tools: the server's own calls of tools; " +
      "completions: one text that grows, as in training",
    ["chat", "tools", "completions"],
  ],
  ...endpointOptions({ maxTokens: "the budget of a turn", cache: "none" }),
});

export type ServedModelFlags = Flags<typeof SERVED_MODEL_OPTIONS>;

export type EndpointFlags = Omit<ServedModelFlags, "model" | "api">;

/** The names of `EndpointFlags`, for flags that have no effect without a server. */
export const ENDPOINT_FLAGS = Object.keys(endpointOptions({ maxTokens: "", cache: "" })).filter(
  (name) => name !== "noCache",
);

/**
 * The settings of a server that the flags give, by the keys of the settings.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable of --api-key-env is not set; USAGE for one price without the other.
 */
export function endpointValues(flags: EndpointFlags): Record<string, unknown> {
  const { apiKeyEnv, timeoutMs, maxTokens, concurrency, retries, priceIn, priceOut, cache } = flags;
  if ((priceIn === undefined) !== (priceOut === undefined)) {
    const [given, missing] = priceIn === undefined ? ["out", "in"] : ["in", "out"];
    throw usage(
      `--price-${given} is given without --price-${missing}: a cost needs both. Add --price-${missing}.`,
    );
  }
  const isNamed = apiKeyEnv !== undefined && apiKeyEnv !== "none";
  if (isNamed) readApiKey(apiKeyEnv, "--api-key-env", "For a server without keys: none.");
  const values = {
    apiKeyEnv: apiKeyEnv === "none" ? null : apiKeyEnv,
    maxTokens,
    concurrency,
    timeoutMs,
    retries,
    deadlineMs: timeoutMs === undefined ? undefined : timeoutMs * ATTEMPTS_IN_TIME,
    price:
      priceIn === undefined
        ? undefined
        : { promptPerMillion: priceIn, completionPerMillion: priceOut },
    cache: cache === false ? null : cache,
  };
  return definedValues(values);
}

/**
 * The settings of the model that the flags name on a server, by the keys of the settings.
 * @param option the option that gave the address.
 * @throws {ConfigError} USAGE without --model; as `endpointValues`.
 */
export function servedModel(
  address: string,
  flags: ServedModelFlags,
  option: string,
): Record<string, unknown> {
  const { model, api } = flags;
  if (model === undefined)
    throw usage(
      `${option} is ${address}, a server: --model must say which of its models is meant. GET ${address.replace(/\/$/, "")}/models lists them.`,
    );
  return {
    baseUrl: address,
    model,
    api: api === undefined ? undefined : api === "tools" ? "chat" : api,
    ...endpointValues(flags),
  };
}

/** The time limit of all attempts, in time limits of one: as the defaults of both. */
const ATTEMPTS_IN_TIME = 4;

function folderName(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must be the path of a folder.");
}
