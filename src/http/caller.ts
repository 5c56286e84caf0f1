import type { SettingName } from "./endpoint.ts";

/** Who asks a model server, for messages. */
export interface Caller {
  name: string;
  nameOf: SettingName;
}

/** Settings that are options of every command that asks a policy, a teacher or a judge. */
const OPTIONS: Partial<Record<Parameters<SettingName>[0], string>> = {
  apiKeyEnv: "--api-key-env",
  concurrency: "--concurrency",
  retries: "--retries",
  // The deadline of all attempts follows the time limit of one.
  timeoutMs: "--timeout-ms",
  deadlineMs: "--timeout-ms",
};

/**
 * A caller whose settings are options of its command.
 *
 * @param place where a recipe holds the same settings.
 * @example commandCaller("policy", "policy.endpoint").nameOf("timeoutMs") // "--timeout-ms (policy.endpoint.timeoutMs)"
 */
export function commandCaller(name: string, place?: string): Caller {
  return {
    name,
    nameOf(key) {
      const option = OPTIONS[key];
      if (place === undefined) return option ?? key;
      return option === undefined ? `${place}.${key}` : `${option} (${place}.${key})`;
    },
  };
}

/** A caller whose settings stand in a recipe only: `name.key`. */
export function callerOf(caller: string | Caller): Caller {
  return typeof caller === "string"
    ? { name: caller, nameOf: (key) => `${caller}.${key}` }
    : caller;
}
