import type { Settings } from "../run/settings/settings-schema.ts";
import { type Rule, rule, type TrainerKeys } from "./rule.ts";

interface TrainerLogging {
  /** Of agentrl's reporters, those that the trainer logs to. */
  known: readonly string[];
  /** How many it logs to at once. */
  most?: number;
  to: (names: string[]) => TrainerKeys;
}

/** The recipe's reporters, for a trainer that logs to them by itself. */
export function reportersRule({ known, most = Infinity, to }: TrainerLogging): Rule {
  const logged = (all: Settings["reporters"]): string[] =>
    all
      .map(({ name }) => name)
      .filter((name) => known.includes(name))
      .slice(0, most);
  return rule<Settings["reporters"]>("reporters", {
    to: (all) => (all.length === 0 ? {} : to(logged(all))),
    differs: (all) => {
      if (all.length === 0) return null;
      const there = logged(all);
      const left = all.map(({ name }) => name).filter((name) => !there.includes(name));
      const unlogged = left.length === 0 ? "" : `; not logged: ${left.join(", ")}`;
      return `the trainer logs its own metrics, to where its environment variables say${unlogged}`;
    },
  });
}
