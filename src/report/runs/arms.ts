import { basename } from "node:path";
import type { SettingEffect } from "../../base/setting-effect.ts";
import type { RunFiles } from "./run-files.ts";
import { type SettingColumn, type SettingRow, settingRows, textOf } from "./setting-rows.ts";

/** Runs that train the same, of whatever seed, wherever they lie, and however they are kept, watched and told of. */
export interface Arm {
  /** Unlike that of any other arm. */
  name: string;
  /** Its colour, from 0. */
  series: number;
  runs: RunFiles[];
}

/** What the schema of settings declares for a key. */
export type EffectOf = (key: string) => SettingEffect;

/** What a comparison of arms begins with. */
export interface ArmComparisonBase {
  arms: Arm[];
  /** Settings, versions and data in which arms differ, values by arm. */
  differences: SettingRow[];
  /** Further settings in which runs differ, which make no arm, values by run of each arm. */
  conduct: { key: string; values: (string | undefined)[][] }[];
}

/** Settings that name an arm, at most; with more, its first run's folder does. */
const NAMED_BY = 2;

/**
 * Runs as arms: those of one recipe, with the same settings and made of the same data and policy. Left aside are seed and folders, and
 * the settings that do not change what is learned; alarms are among these as long as they sent no run back.
 * In the order in which they are given.
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

/** Alarms, and how a run goes on after them, were part of the training where they sent a run back; elsewhere they watched. */
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
  const columns = members.flat().map((run) => ({
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

/** Whether runs with another value are of another arm. */
function isCompared({ manifest: { hashes } }: RunFiles, key: string, effectOf: EffectOf): boolean {
  const effect = effectOf(key);
  // Of a version that wrote no checksum of what was learned from, the path must do.
  if (effect === "place") return !("samples" in hashes || "pairs" in hashes);
  return key !== "seed" && (effect === "training" || effect === "length");
}

/** What an earlier stage of the same run made differs by its seed. */
const MADE_BY_STAGES: Readonly<Record<string, readonly string[]>> = {
  "policy.from": ["policy"],
  "sft.data": ["samples", "validationSamples"],
  "preference.data": ["pairs", "validationPairs"],
};

/** A run's settings by key, with what else makes it comparable: data, policy, kind, recipe. */
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
  // A checksum says nothing to people where a setting differs too.
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
