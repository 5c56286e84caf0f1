import { schemasOfKey, unwrapped, type z } from "./schema.ts";

/** What a setting of a run decides, for code that asks whether two runs are the same one: resumed, or compared. */
export type SettingEffect =
  /** What a step does, what it learns from, and what is measured. The effect of a key that declares none. */
  | "training"
  /** How many steps there are. */
  | "length"
  /** Where files lie whose content is compared by checksum. */
  | "place"
  /** How the same sums are divided and where they are computed: results differ in their last bits. */
  | "numerics"
  /** When a run goes back to an earlier checkpoint, and how it continues: decisive only where it went back. */
  | "rollback"
  /** What is kept, reported, waited for, checked and measured on the way. */
  | "bookkeeping";

/**
 * Declares the effect of a key where the key is declared. It holds for all keys below, too.
 * @example steps: z.int().default(40).meta(affects("length"))
 */
export function affects(effect: SettingEffect): { effect: SettingEffect } {
  return { effect };
}

/** The effect that a schema declares for a key path: the outermost on it; where schemas are chosen, any of them may declare it. */
export function declaredEffect(schema: z.ZodType, keys: readonly string[]): SettingEffect {
  let level: readonly z.ZodType[] = [schema];
  for (const key of ["", ...keys]) {
    if (key !== "") level = level.flatMap((each) => schemasOfKey(each, key));
    level = level.flatMap((each) => unwrapped(each));
    for (const each of level) {
      const effect = each.meta()?.["effect"];
      if (effect !== undefined) return effect as SettingEffect;
    }
  }
  return "training";
}

/** Conditions on other settings, by key (beside the setting, or else from the top): a value, or a test with its words. */
type Conditions = Readonly<Record<string, Test | string | number | undefined>>;

type Test = { words: string; holds: (value: unknown) => boolean };

export function when(words: string, holds: Test["holds"]): Test {
  return { words, holds };
}

export const isSet = when("is set", (value) => value !== undefined);

/** Other settings disable this one, where all conditions hold. */
export type IgnoredRule = { conditions: Conditions; remedy: string };

/**
 * Declares where a key is declared that other settings disable it. A key may have several such declarations.
 * @example topK: z.int().default(0).meta(ignoredWhen({ temperature: 0 }))
 */
export function ignoredWhen(
  conditions: Conditions,
  remedy = "Remove it",
): Record<string, IgnoredRule> {
  return { [IGNORED + Object.keys(conditions).join(", ")]: { conditions, remedy } };
}

const IGNORED = "ignored when ";

/** The same declaration for every key of a shape. */
export function allIgnoredWhen<S extends z.ZodRawShape>(
  shape: S,
  ...rule: Parameters<typeof ignoredWhen>
): S {
  const entries = Object.entries(shape) as unknown as [string, z.ZodType][];
  const declared = entries.map(([key, schema]) => [key, schema.meta(ignoredWhen(...rule))]);
  return Object.fromEntries(declared) as S;
}

/** What `ignoredWhen` declared in a setting's `meta`. */
export function ignoredRules(meta: Readonly<Record<string, unknown>>): IgnoredRule[] {
  const own = Object.keys(meta).filter((key) => key.startsWith(IGNORED));
  return own.map((key) => meta[key] as IgnoredRule);
}

/** A condition in words where it holds; else null. @example conditionMet(0, 0) // "is 0" */
export function conditionMet(condition: Conditions[string], value: unknown): string | null {
  const { words, holds } =
    typeof condition === "object"
      ? condition
      : when(condition === undefined ? "is not set" : `is ${condition}`, (it) => it === condition);
  return holds(value) ? words : null;
}
