import type { RunSettings } from "./run-settings.ts";

/** A setting, or an entry of a list of settings, with its value in several runs. */
export interface SettingRow {
  /** Dotted key; for an entry, the list's key and the entry's name. */
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
 * Rows for the settings in which runs differ. A list (alarms, rewards, budgets) has one row with the entries that only some runs have, and
 * one for each entry with different options. A block that some run lacks (`sft`, `evaluation.during`) is one row, with further rows for
 * differences among the runs that have it.
 */
export function settingRows(columns: readonly SettingColumn[]): SettingRow[] {
  const keys = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))];
  const lists = new Set(keys.flatMap((key) => listOf(key) ?? []));
  const blocks = new Map<string, string[]>();
  for (const head of new Set(keys.map((key) => listOf(key) ?? key))) {
    const block = blockOf(head, columns);
    blocks.set(block, [...(blocks.get(block) ?? []), head]);
  }
  return [...blocks.values()].flatMap((heads) => {
    const block = sharedPrefix(heads);
    const isPart = heads.length > 1;
    // A missing list has its own row.
    const own = isPart ? columns.filter((column) => hasUnder(column, block)) : columns;
    const rows = heads.flatMap((head) => {
      if (lists.has(head)) return listRows(head, own);
      const values = own.map((column) => textAt(column, head));
      return differ(values) ? [{ key: head, values }] : [];
    });
    if (!isPart) return rows;
    const values = columns.map((column) =>
      own.includes(column) ? setText(block, column) : undefined,
    );
    const spread = rows.map(({ key, values: found }) => ({
      key,
      values: columns.map((column) => found[own.indexOf(column)]),
    }));
    return [{ key: block, values }, ...spread];
  });
}

/** The largest block around a key that the runs without the key lack completely; else the key itself. */
function blockOf(key: string, columns: readonly SettingColumn[]): string {
  const lacking = columns.filter((column) => !hasUnder(column, key));
  const parts = key.split(".");
  const prefixes = parts.map((_, i) => parts.slice(0, i + 1).join("."));
  if (lacking.length === 0) return key;
  return prefixes.find((prefix) => !lacking.some((column) => hasUnder(column, prefix))) ?? key;
}

/** @example sharedPrefix(["evaluation.during.every", "evaluation.during.questions"]) // "evaluation.during" */
function sharedPrefix(keys: readonly string[]): string {
  const [first = [], ...others] = keys.map((key) => key.split("."));
  const end = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return first.slice(0, end < 0 ? first.length : end).join(".");
}

function hasUnder({ values }: SettingColumn, prefix: string): boolean {
  return [...values.keys()].some((key) => key === prefix || key.startsWith(`${prefix}.`));
}

/** The non-default settings of a block. */
function setText(block: string, { values, origins }: SettingColumn): string {
  const set = [...values].filter(
    ([key]) => key.startsWith(`${block}.`) && origins?.get(key) !== "default",
  );
  const texts = set.map(([key, value]) => `${key.slice(block.length + 1)} ${textOf(value)}`);
  return texts.length === 0 ? "as by default" : texts.join(", ");
}

/** The outermost list that a key lies in. @example listOf("alarms.0.name") // "alarms" */
function listOf(key: string): string | null {
  return /^(.+?)\.\d+(?=\.|$)/.exec(key)?.[1] ?? null;
}

function differ(values: readonly unknown[]): boolean {
  return new Set(values).size > 1;
}

function textAt({ values }: SettingColumn, key: string): string | undefined {
  return values.has(key) ? textOf(values.get(key)) : undefined;
}

/** A value as text; a path into the run's own stages is relative to the run's folder. */
export function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^.*?\/?(?=stages\/\d+-[a-z0-9-]+(\/|$))/, "{run}/");
}

interface Entry {
  /** Its name or a substitute; unique in the list. */
  id: string;
  options: ReadonlyMap<string, string>;
  /** Its text alone: its name and its non-default options. */
  whole: string;
}

function listRows(list: string, columns: readonly SettingColumn[]): SettingRow[] {
  const found = columns.map((column) => entriesOf(list, column));
  const ids = [...new Set(found.flatMap((entries) => entries?.map(({ id }) => id) ?? []))];
  const changed = ids.flatMap((id) => {
    const own = found.map((entries) => entries?.find((entry) => entry.id === id));
    const there = own.filter((entry) => entry !== undefined);
    const options = [...new Set(there.flatMap((entry) => [...entry.options.keys()]))].filter(
      (option) => differ(there.map((entry) => entry.options.get(option))),
    );
    const values = own.map((entry) => entry && optionsText(entry.options, options));
    return options.length === 0 ? [] : [{ id, row: { key: `${list}.${id}`, values } }];
  });
  const rows = changed.map(({ row }) => row);
  const isIn = (id: string): boolean[] =>
    found.map((entries) => entries?.some((entry) => entry.id === id) === true);
  const partial = ids.filter((id) => isIn(id).includes(false));
  const isReordered =
    rows.length === 0 && differ(found.map((own) => own?.map(({ id }) => id).join()));
  if (partial.length === 0 && !isReordered) return rows;
  const told = new Set(changed.map(({ id }) => id));
  const values = found.map((entries) => {
    const own = (entries ?? []).filter(({ id }) => isReordered || partial.includes(id));
    const texts = own.map(({ id, whole }) => (told.has(id) ? id : whole));
    const others = (entries?.length ?? 0) - own.length;
    if (others > 0) texts.push(`${own.length > 0 ? "and " : ""}${others} that all have`);
    return entries && (texts.length === 0 ? "none" : texts.join(", "));
  });
  return differ(values) ? [{ key: list, values }, ...rows] : rows;
}

/** A list's entries; undefined if a run has no such list. */
function entriesOf(list: string, { values, origins }: SettingColumn): Entry[] | undefined {
  if (values.has(list)) return [];
  const byPlace = new Map<string, Map<string, string>>();
  const set = new Set<string>();
  for (const [key, value] of values) {
    if (!key.startsWith(`${list}.`)) continue;
    const [place = "", ...rest] = key.slice(list.length + 1).split(".");
    const options = byPlace.get(place) ?? new Map<string, string>();
    byPlace.set(place, options.set(rest.join("."), textOf(value)));
    if (origins?.get(key) !== "default") set.add(key);
  }
  const known = new Map<string, number>();
  const entries = [...byPlace].map(([place, all]): Entry => {
    // A scalar is its own name; an entry without a name uses its index.
    const name = all.get("name") ?? all.get("");
    const options = new Map([...all].filter(([option]) => option !== "name" && option !== ""));
    const count = (known.get(name ?? place) ?? 0) + 1;
    known.set(name ?? place, count);
    const id = count === 1 ? (name ?? place) : `${name ?? place} (${count})`;
    const own = [...options.keys()].filter((option) => set.has(`${list}.${place}.${option}`));
    const text = optionsText(options, own);
    if (name === undefined) return { id, options, whole: `(${text})` };
    return { id, options, whole: text === "" ? id : `${id} (${text})` };
  });
  return entries.length === 0 ? undefined : entries;
}

/** @example optionsText(new Map([["limit", "0.3"]]), ["limit"]) // "limit 0.3" */
function optionsText(options: ReadonlyMap<string, string>, named: readonly string[]): string {
  return named.map((option) => `${option} ${options.get(option) ?? "not set"}`).join(", ");
}
