import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { RunEvent } from "../run-event.ts";

/** What is known when a run starts. */
export interface RunStart {
  /** Name of the recipe. */
  recipe: string;
  tier: string;
  /** agentrl's. */
  version: string;
  /** Run folder. */
  out: string;
  /** Resolved, by dotted key: `algorithm.groupSize`. */
  settings: Readonly<Record<string, unknown>>;
  /** Completed steps; 0 for a new run. Later steps are reported again. */
  afterStep: number;
}

/**
 * Reports a run to another program. A run never waits for a reporter and never fails because of one: calls return at once, and a
 * failed delivery is reported once (`onTrouble`) and at the end.
 */
export interface Reporter {
  metrics(
    step: number,
    data: Readonly<Record<string, number>>,
    timing: Readonly<Record<string, number>>,
  ): void;
  /** @param name `before`, `after`, `step-40`. @param scores by metric. */
  evaluation(name: string, step: number, scores: Readonly<Record<string, number>>): void;
  event(event: RunEvent): void;
  /** Delivers the remaining events within its own deadline. */
  close(outcome: "finished" | "interrupted" | "failed"): Promise<void>;
}

/** A reporter that a recipe can name. */
export interface ReporterPart extends PartWithOptions {
  open(options: object, start: RunStart, onTrouble: (message: string) => void): Promise<Reporter>;
}

/** Makes a reporter; it need only have the functions that it uses. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineReporter = definer<ReporterPart>()("reporter", {
  functions: {
    open: {
      at: 0,
      async: true,
      returned(reporter: Partial<Reporter>, { what }): Reporter {
        requireReturned(what, reporter, {});
        return {
          metrics: (...given) => reporter.metrics?.(...given),
          evaluation: (...given) => reporter.evaluation?.(...given),
          event: (event) => reporter.event?.(event),
          close: async (outcome) => reporter.close?.(outcome),
        };
      },
    },
  },
});
