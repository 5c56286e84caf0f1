import { ConfigError, errorMessage } from "../../base/errors.ts";
import { reporters } from "./index.ts";
import type { Reporter, RunStart } from "./reporter.ts";

/**
 * All reporters of a run as one. A reporter that fails is reported and left out; the run and the others continue.
 *
 * @param named checked by `reportersSchema`.
 * @param onTrouble one sentence or two, the reporter's name in front; at most twice for each.
 * @throws {ConfigError} when a setting is wrong that no schema can check, such as a missing server address: open the reporters
 *   before anything else.
 */
export async function openReporters(
  named: readonly { readonly name: string }[],
  start: RunStart,
  onTrouble: (message: string) => void,
): Promise<Reporter> {
  const opened: Reporter[] = [];
  for (const { name, ...options } of named) {
    try {
      const part = await reporters.load(name, "reporters");
      opened.push(await part.open(options, start, onTrouble));
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const trouble = `${name}: ${errorMessage(error)} The run continues without it.`;
      // After this function has returned, so that the caller has its reporter.
      setImmediate(onTrouble, trouble);
    }
  }
  return {
    metrics(step, data, timing) {
      for (const each of opened) each.metrics(step, data, timing);
    },
    evaluation(name, step, scores) {
      for (const each of opened) each.evaluation(name, step, scores);
    },
    event(event) {
      // A reporter's own failures are shown here only.
      if (event.kind === "reporter") return;
      for (const each of opened) each.event(event);
    },
    async close(outcome) {
      await Promise.all(opened.map((each) => each.close(outcome)));
    },
  };
}
