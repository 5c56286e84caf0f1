import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import type { RolloutGroup } from "../scored-group.ts";

/** Leaves groups out of a batch, by raw scores, before advantages are estimated. */
export interface Filter extends PartWithOptions {
  readonly source?: string;
  /** @returns the groups that stay, in their order. One that is named again is learned from again, as a group of its own. */
  keep(
    groups: readonly RolloutGroup[],
    options: Readonly<Record<string, unknown>>,
  ): readonly RolloutGroup[];
}

/** Makes a filter; its options reach `keep` checked and typed. @throws {ConfigError} PLUGIN_BAD_PART without keep. */
export const defineFilter = definer<Filter>()("filter", {
  functions: {
    keep: {
      at: 1,
      returned(kept: readonly RolloutGroup[], { what, args: [groups] }) {
        if (Array.isArray(kept) && kept.every((each: RolloutGroup) => groups.includes(each)))
          return kept as RolloutGroup[];
        throw new ConfigError(
          "PLUGIN_FAILED",
          `${what} must return a list of some of the groups that it was given. Correct its code.`,
        );
      },
    },
  },
});
