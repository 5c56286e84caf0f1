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

/**
 * The effect that a schema declares for a key: the outermost on its path. Where a part or another choice decides which schema holds,
 * any of them may declare it.
 * @param keys a path; numbers are positions in a list.
 */
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
