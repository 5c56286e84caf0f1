import { readApiKey } from "./api-key.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * The key of an OpenAI-compatible server, as its client needs it. A variable that is not set is no error for a server on this
 * machine, which is asked without a key.
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function modelKey(
  name: string,
  { baseUrl, apiKeyEnv }: { baseUrl: string; apiKeyEnv: string | null },
): Pick<Endpoint, "headers" | "keys"> {
  if (apiKeyEnv === null) return {};
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  if (local && (process.env[apiKeyEnv] ?? "") === "") return {};
  const remedy = "For a server that wants none, set apiKeyEnv to null.";
  const key = readApiKey(apiKeyEnv, `${name}.apiKeyEnv`, remedy);
  return { headers: { authorization: `Bearer ${key}` }, keys: { [apiKeyEnv]: key } };
}
