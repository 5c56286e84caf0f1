import { basename } from "node:path";
import type { RunFiles } from "./run-files.ts";

/** Runs that differ in nothing but the seed, and in where they lie. */
export interface Arm {
  /** Unlike that of any other arm. */
  name: string;
  /** Its colour, from 0. */
  series: number;
  runs: RunFiles[];
}

/** One setting in which arms differ. */
export interface SettingDifference {
  key: string;
  /** By arm; undefined: it has no such setting. */
  values: (string | undefined)[];
}

/** What a comparison of arms begins with. */
export interface ArmComparisonBase {
  arms: Arm[];
  differences: SettingDifference[];
}

/** Settings that name an arm, at most; with more, its first run's folder does. */
const NAMED_BY = 2;

/**
 * Runs as arms: those of one recipe, with the same settings and made of the same data and policy, seed and folders left aside.
 * In the order in which they are given.
 */
export function armsOf(runs: readonly RunFiles[]): ArmComparisonBase {
  const groups = new Map<string, RunFiles[]>();
  for (const run of runs) {
    const key = JSON.stringify([...comparedSettings(run)].sort(([a], [b]) => (a < b ? -1 : 1)));
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [run]);
    else own.push(run);
  }
  const members = [...groups.values()];
  const differences = settingDifferences(members.map(([first]) => first));
  const names = armNames(members, differences);
  const arms = members.map((own, series) => ({ name: names[series] ?? "", series, runs: own }));
  return { arms, differences };
}

function settingDifferences(firsts: readonly (RunFiles | undefined)[]): SettingDifference[] {
  const all = firsts.map((run) => (run === undefined ? new Map() : comparedSettings(run)));
  const keys = [...new Set(all.flatMap((own) => [...own.keys()] as string[]))];
  return keys.flatMap((key) => {
    const values = all.map((own) => own.get(key) as string | undefined);
    return new Set(values).size < 2 ? [] : [{ key, values }];
  });
}

/** A run's settings as text by key, with what else makes it comparable: data, policy, kind, recipe. */
function comparedSettings({ settings, manifest, kind }: RunFiles): Map<string, string> {
  const found = new Map<string, string>();
  const { recipe, tier, agentrl, hashes, machine } = manifest;
  const facts = { recipe, tier, kind, agentrl, "machine.device": machine["device"] };
  for (const [key, value] of Object.entries(facts))
    if (value !== undefined) found.set(key, withoutFolder(value));
  for (const [key, value] of settings?.values ?? []) {
    if (key !== "seed") found.set(key, withoutFolder(value));
  }
  // What an earlier stage of the same run made differs by its seed.
  const isOwn = found.get("policy.from")?.startsWith("{run}") === true;
  for (const [key, value] of Object.entries(hashes)) {
    if (["dataset", "evaluationDataset"].includes(key) || (key === "policy" && !isOwn))
      found.set(`hashes.${key}`, withoutFolder(value));
  }
  return found;
}

/** A value as text; a path into the run's own stages without the run's folder. */
function withoutFolder(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^.*?\/?(?=stages\/\d+-[a-z0-9-]+(\/|$))/, "{run}/");
}

function armNames(
  members: readonly (readonly RunFiles[])[],
  differences: readonly SettingDifference[],
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
