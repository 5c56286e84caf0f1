import { leavesOf } from "../base/leaves.ts";
import { shorten } from "../base/format.ts";
import type { Settings } from "../run/settings/settings-schema.ts";

/** What rules may read beside the value of their key. */
export interface ExportFacts {
  settings: Settings;
  /** Rows written, and the length in bytes of the longest prompt: no tokenizer makes more tokens of it. */
  rows: { train: number; validation: number; longestPrompt: number };
  /** The policy as the trainer loads it: a folder within the export, a folder elsewhere, or a name on the hub. */
  model: string;
  /** Graphics cards of the machine that trains. */
  gpus: number;
  /** Texts after which a message need not go on. */
  stop: readonly string[];
}

/** Keys of a trainer's configuration with their values; dotted. */
export type TrainerKeys = Readonly<Record<string, unknown>>;

/** Values of a key that a trainer can have. */
export interface Allowed<T = unknown> {
  /** For messages. */
  says: string;
  is: (value: T, settings: Settings) => boolean;
  /** Of a list, each item of which is refused by itself. */
  item?: (item: never) => boolean;
}

/**
 * What a trainer makes of one key of a recipe, and of every key below it that has no rule of its own. A rule with none of `to`, `file`
 * and `unused` only demands a value.
 */
export interface Rule<T = unknown> {
  /** Key of the recipe; dotted. */
  readonly from: string;
  /** Values that the trainer can have; all when absent. `is` gets the value and all settings. */
  readonly allowed?: Allowed<T>;
  /** Its keys and their values. */
  readonly to?: (value: T, facts: ExportFacts) => TrainerKeys;
  /** The exported file that holds it instead. */
  readonly file?: string;
  /** Why the trainer needs nothing of it. */
  readonly unused?: string;
  /** How the trainer does it otherwise, in numbers that a run may show; null: it does not. */
  readonly differs?: (value: T, settings: Settings, facts: ExportFacts) => string | null;
}

/** A rule with the type of its value, which the recipe's schema has checked. */
export function rule<T>(from: string, rest: Omit<Rule<T>, "from">): Rule {
  return { from, ...rest } as Rule;
}

/** Keys of the recipe that only agentrl reads. */
export function unused(reason: string, keys: readonly string[]): Rule[] {
  return keys.map((from) => ({ from, unused: reason }));
}

/** Where a key of the recipe went. */
export interface ExportedKey {
  /** Key of the recipe. */
  from: string;
  value: unknown;
  /** Where its value comes from, as `agentrl recipes show` tells it. */
  origin: string;
  /** The trainer's keys. */
  to: TrainerKeys;
  file?: string;
  unused?: string;
  differs?: string;
}

/** A setting that the trainer cannot have. */
export interface Refusal {
  from: string;
  value: unknown;
  origin: string;
  allowed: string;
}

/** The rules that apply to the settings, each once, in the order of the settings; null where a key has none. */
function rulesOf(settings: Settings, rules: readonly Rule[]): ReadonlyMap<string, Rule | null> {
  const byKey = new Map(rules.map((each) => [each.from, each]));
  const found = new Map<string, Rule | null>();
  for (const [keys, value] of leavesOf(settings)) {
    if (value === undefined) continue;
    const prefixes = keys.map((_, i) => keys.slice(0, keys.length - i).join("."));
    const from = prefixes.find((each) => byKey.has(each)) ?? keys.join(".");
    found.set(from, byKey.get(from) ?? null);
  }
  return found;
}

/** Settings that a trainer cannot have: those whose rule forbids the value, and those without a rule. */
export function refusals(
  settings: Settings,
  origins: ReadonlyMap<string, string>,
  rules: readonly Rule[],
): Refusal[] {
  const found = [...rulesOf(settings, rules)].flatMap(([from, found]) => {
    const value = valueOf(settings, from);
    const allowed = found?.allowed;
    if (found !== null && (allowed === undefined || allowed.is(value, settings))) return [];
    const says = allowed?.says ?? UNKNOWN;
    return wrongItems(value, allowed, from).map(([key, wrong]) => {
      return { from: key, value: wrong, origin: originOf(origins, key), allowed: says };
    });
  });
  // Options of a part that is refused say nothing of their own.
  const parts = found.flatMap(({ from }) => (/\.name$/.test(from) ? [from.slice(0, -4)] : []));
  return found.filter(
    ({ from, allowed }) => allowed !== UNKNOWN || !parts.some((part) => from.startsWith(part)),
  );
}

/** The items of a list that are refused by themselves, by key; the whole value where there are none. */
function wrongItems(
  value: unknown,
  allowed: Allowed | undefined,
  from: string,
): [key: string, value: unknown][] {
  const { item } = allowed ?? {};
  const items = item === undefined || !Array.isArray(value) ? [] : (value as never[]);
  const wrong = items.flatMap((each, i): [string, unknown][] =>
    item?.(each) === false ? [[`${from}.${i}`, each]] : [],
  );
  return wrong.length > 0 ? wrong : [[from, value]];
}

const UNKNOWN = "nothing: the export has no translation of this key";

/** Where every key of the settings goes. Call it after `refusals`. */
export function exportedKeys(
  facts: ExportFacts,
  origins: ReadonlyMap<string, string>,
  rules: readonly Rule[],
): ExportedKey[] {
  const { settings } = facts;
  return [...rulesOf(settings, rules)].flatMap(([from, found]) => {
    if (found === null) return [];
    const value = valueOf(settings, from);
    const differs = found.differs?.(value, settings, facts) ?? null;
    return [
      {
        from,
        value,
        origin: originOf(origins, from),
        to: found.to?.(value, facts) ?? {},
        file: found.file,
        unused: found.unused,
        differs: differs ?? undefined,
      },
    ];
  });
}

/** `algorithm.minibatches is 10 (recipes/search-r1.yaml:67); allowed: …` */
export function refusalText({ from, value, origin, allowed }: Refusal): string {
  return `${from} is ${shorten(JSON.stringify(value), 120)} (${origin}); allowed: ${allowed}`;
}

function valueOf(settings: Settings, key: string): unknown {
  let value: unknown = settings;
  for (const part of key.split(".")) value = (value as Record<string, unknown>)[part];
  return value;
}

/** The origin of a key, or of the first one below it that is not a default. */
function originOf(origins: ReadonlyMap<string, string>, key: string): string {
  const own = origins.get(key);
  if (own !== undefined) return own;
  const below = [...origins].filter(([known]) => known.startsWith(`${key}.`));
  return (below.find(([, origin]) => origin !== "default") ?? below[0])?.[1] ?? "default";
}
