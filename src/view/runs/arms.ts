import { basename } from "node:path";
import type { SettingEffect } from "../../base/setting-effect.ts";
import type { RunFiles } from "./run-files.ts";
import type { RunSettings } from "./run-settings.ts";

/** Runs with the same training settings; seed, folder, storage, alarms and reporting may differ. */
export interface Arm {
  /** Unique name. */
  name: string;
  /** Its colour, from 0. */
  series: number;
  runs: RunFiles[];
}

/** The declared effect of a setting. */
export type EffectOf = (key: string) => SettingEffect;

/** Arms with the settings in which they differ. */
export interface ArmComparisonBase {
  arms: Arm[];
  /** Settings, versions and data in which arms differ, values by arm. */
  differences: SettingRow[];
  /** Other settings in which runs differ but that do not define arms, values by run of each arm. */
  conduct: { key: string; values: (string | undefined)[][] }[];
}

/** Most settings in an arm's name; with more, the first run's folder is the name. */
const NAMED_BY = 2;

/**
 * Runs as arms: runs of one recipe with the same settings, data and policy. Seed, folders and settings without effect on training are
 * ignored; alarms are among these unless they caused a rollback. In the order given.
 */
export function armsOf(runs: readonly RunFiles[], effectOf: EffectOf): ArmComparisonBase {
  const members = groupedBy(runs, (run) => keyOf(comparedSettings(run, effectOf).values)).flatMap(
    (own) => byRollbacks(own, effectOf),
  );
  const order = (own: readonly RunFiles[]): number =>
    own[0] === undefined ? 0 : runs.indexOf(own[0]);
  members.sort((a, b) => order(a) - order(b));
  const differences = settingRows(
    members.flatMap(([first]) => (first === undefined ? [] : [comparedSettings(first, effectOf)])),
  );
  const names = armNames(members, differences);
  const arms = members.map((own, series) => ({ name: names[series] ?? "", series, runs: own }));
  return { arms, differences, conduct: conductOf(members, effectOf) };
}

function groupedBy(runs: readonly RunFiles[], key: (run: RunFiles) => string): RunFiles[][] {
  const groups = new Map<string, RunFiles[]>();
  for (const run of runs) {
    const id = key(run);
    const own = groups.get(id);
    if (own === undefined) groups.set(id, [run]);
    else own.push(run);
  }
  return [...groups.values()];
}

/** Settings of alarms and rollback belong to the training only if a run was rolled back. */
function byRollbacks(runs: readonly RunFiles[], effectOf: EffectOf): RunFiles[][] {
  const groups = groupedBy(runs, (run) =>
    keyOf(chosen(run, (key) => effectOf(key) === "rollback")),
  );
  const watched = groups.filter((own) => !own.some(wentBack)).flat();
  const returned = groups.filter((own) => own.some(wentBack));
  return [...returned, runs.filter((run) => watched.includes(run))].filter((own) => own.length > 0);
}

function wentBack(run: RunFiles): boolean {
  return [run, ...run.stages].some(({ events }) => events.some(({ kind }) => kind === "rollback"));
}

function conductOf(
  members: readonly (readonly RunFiles[])[],
  effectOf: EffectOf,
): ArmComparisonBase["conduct"] {
  const columns = members
    .flat()
    .map((run) => ({
      values: chosen(run, (key) => key !== "seed" && !isCompared(run, key, effectOf)),
      origins: run.settings?.origins ?? new Map<string, string>(),
    }));
  return settingRows(columns).map(({ key, values }) => {
    let at = 0;
    return { key, values: members.map(({ length }) => values.slice(at, (at += length))) };
  });
}

function chosen(
  { settings }: RunFiles,
  isChosen: (key: string) => boolean,
): ReadonlyMap<string, unknown> {
  return new Map([...(settings?.values ?? [])].filter(([key]) => isChosen(key)));
}

function keyOf(values: ReadonlyMap<string, unknown>): string {
  const texts = [...values].map(([key, value]) => [key, textOf(value)] as const);
  return JSON.stringify(texts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether runs with another value belong to another arm. */
function isCompared({ manifest: { hashes } }: RunFiles, key: string, effectOf: EffectOf): boolean {
  const effect = effectOf(key);
  // An old version wrote no checksum of the training data, so the path is compared.
  if (effect === "place") return !("samples" in hashes || "pairs" in hashes);
  return key !== "seed" && (effect === "training" || effect === "length");
}

/** Outputs of an earlier stage of the same run, which differ by seed. */
const MADE_BY_STAGES: Readonly<Record<string, readonly string[]>> = {
  "policy.from": ["policy"],
  "sft.data": ["samples", "validationSamples"],
  "preference.data": ["pairs", "validationPairs"],
};

/** A run's settings by key, and its data, policy, kind and recipe. */
function comparedSettings(run: RunFiles, effectOf: EffectOf): SettingColumn {
  const { settings, manifest, kind } = run;
  const { recipe, tier, agentrl, hashes, machine } = manifest;
  const facts = { recipe, tier, kind, agentrl, "machine.device": machine["device"] };
  const values = new Map(Object.entries(facts).filter(([, value]) => value !== undefined));
  for (const [key, value] of chosen(run, (name) => isCompared(run, name, effectOf)))
    values.set(key, value);
  const made = Object.entries(MADE_BY_STAGES).flatMap(([key, names]) =>
    textOf(settings?.values.get(key) ?? "").startsWith("{run}") ? names : [],
  );
  const names = ["dataset", "evaluationDataset", ...Object.values(MADE_BY_STAGES).flat()];
  for (const name of names.filter((each) => each in hashes && !made.includes(each)))
    values.set(`hashes.${name}`, hashes[name]);
  return { values, origins: settings?.origins ?? new Map() };
}

function armNames(
  members: readonly (readonly RunFiles[])[],
  differences: readonly SettingRow[],
): string[] {
  const [only] = members[0] ?? [];
  if (members.length === 1) return [only?.manifest.recipe ?? basename(only?.folder ?? "")];
  // A checksum is left out if a setting differs, too.
  const told = differences.filter(({ key }) => !key.startsWith("hashes."));
  const bySettings = told.length > 0 && told.length <= NAMED_BY;
  const names = members.map(([first], i) =>
    bySettings
      ? told.map(({ key, values }) => `${lastPart(key)} ${shortened(values[i] ?? "–")}`).join(" · ")
      : basename(first?.folder ?? ""),
  );
  return names.map((name, i) => (names.indexOf(name) < i ? `${name} (${i + 1})` : name));
}

/** @example lastPart("algorithm.klCoef") // "klCoef"; lastPart("rewards.0.name") // "rewards.0.name" */
function lastPart(key: string): string {
  const parts = key.split(".");
  return parts.some((part) => /^\d+$/.test(part)) ? key : (parts.at(-1) ?? key);
}

function shortened(text: string): string {
  return text.length <= 24 ? text : `${text.slice(0, 23)}…`;
}

/** A setting with its value in several runs. */
interface SettingRow {
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
function textOf(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^.*?\/?(?=stages\/\d+-[a-z0-9-]+(\/|$))/, "{run}/");
}
