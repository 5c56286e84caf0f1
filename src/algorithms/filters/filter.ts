import { ConfigError } from "../../base/errors.ts";
import { requireDescribed } from "../../base/part-members.ts";
import type { PartWithOptions } from "../../base/part-schema.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { RolloutGroup } from "../scored-group.ts";

/** Leaves groups out of a batch, by raw scores, before advantages are estimated. */
export interface Filter extends PartWithOptions {
  readonly source?: string;
  /** @returns the groups that stay, in their order. */
  keep(
    groups: readonly RolloutGroup[],
    options: Readonly<Record<string, unknown>>,
  ): readonly RolloutGroup[];
}

interface Described<S extends z.ZodObject> extends Omit<Filter, "options" | "keep"> {
  options: S;
  keep(groups: readonly RolloutGroup[], options: z.output<S>): readonly RolloutGroup[];
}

/** Types a filter by its options; the result can stand in a registry. */
export function defineFilter<S extends z.ZodObject>(described: Described<S>): Filter {
  const { name, options } = described;
  requireDescribed("filter", described, ["keep"], { options: "schema" });
  return {
    part: "filter",
    ...described,
    keep(groups, given) {
      const kept: unknown = described.keep(groups, parseOptions(options, given, name));
      if (Array.isArray(kept) && kept.every((each) => groups.includes(each as RolloutGroup)))
        return kept as RolloutGroup[];
      throw new ConfigError(
        "PLUGIN_FAILED",
        `filter "${name}": keep must return a list of some of the groups that it was given. Correct its code.`,
      );
    },
  };
}
