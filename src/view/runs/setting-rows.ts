import type { RunSettings } from "./run-settings.ts";

/** A setting with its value in several runs. */
export interface SettingRow {
  /** Dotted key, entries of lists by their names; of a list itself: the names of its entries, in order. */
  key: string;
  /** Value by run; undefined: the run has no such setting. */
  values: (string | undefined)[];
}

/** A run's compared settings. */
export interface SettingColumn {
  values: ReadonlyMap<string, unknown>;
  origins?: RunSettings["origins"];
}

/**
 * Rows for the settings in which runs differ. Where a run lacks a setting (its entry of a list, its whole block), defaults of the others are
 * no difference.
 */
export function settingRows(columns: readonly SettingColumn[]): SettingRow[] {
  const known = columns.map(namedSettings);
  const keys = new Set(known.flatMap((own) => [...own.keys()]));
  return [...keys].flatMap((key) => {
    const own = known.map((settings) => settings.get(key));
    const values = own.map((each) => each?.text);
    const isLacked = own.includes(undefined);
    const isTold = !isLacked || own.some((each) => each !== undefined && !each.isDefault);
    return new Set(values).size > 1 && isTold ? [{ key, values }] : [];
  });
}

type Named = Map<string, { text: string; isDefault: boolean }>;

/** Settings with the entries of lists by their names; each list is a setting of its own, the names of its entries. */
function namedSettings({ values, origins }: SettingColumn): Named {
  const named: Named = new Map();
  const lists = new Map<string, string[]>();
  const entries = new Map<string, string>();
  for (const [key, value] of values) {
    let [raw, path] = ["", ""];
    let isScalar = false;
    for (const part of key.split(".")) {
      const list = path;
      raw = raw === "" ? part : `${raw}.${part}`;
      if (!/^\d+$/.test(part)) {
        path = path === "" ? part : `${path}.${part}`;
        continue;
      }
      isScalar = raw === key;
      const own = lists.get(list) ?? [];
      lists.set(list, own);
      const name = isScalar ? textOf(value) : textOf(values.get(`${raw}.name`) ?? part);
      const entry = entries.get(raw) ?? unique(name, isScalar ? [] : own);
      if (!entries.has(raw)) own.push(entry);
      entries.set(raw, entry);
      path = `${list}.${entry}`;
    }
    const isName = key.endsWith(".name") && entries.has(key.slice(0, -".name".length));
    if (!isScalar && !isName)
      named.set(path, { text: textOf(value), isDefault: origins?.get(key) === "default" });
  }
  for (const [list, own] of lists) named.set(list, { text: own.join(", "), isDefault: false });
  return named;
}

/** @example unique("kl", ["kl"]) // "kl (2)" */
function unique(name: string, taken: readonly string[]): string {
  let [found, count] = [name, 1];
  while (taken.includes(found)) found = `${name} (${++count})`;
  return found;
}

/** A value as text; a path into the run's own stages is relative to the run's folder. */
export function textOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^.*?\/?(?=stages\/\d+-[a-z0-9-]+(\/|$))/, "{run}/");
}
