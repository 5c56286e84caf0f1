import { ConfigError } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";
import { quote } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import type { ComparedRun } from "./compared-run.ts";

/** One difference between two protocols. */
export interface ProtocolDifference {
  /** Part of the fingerprint: "retriever", "topK", … or "protocol" if only the hashes are known. */
  part: string;
  /** Dotted path inside the part; "" for a part with one value. */
  at: string;
  left: unknown;
  right: unknown;
  /** The run that differs from the first one of the left side. */
  run: string;
}

/** Result of comparing the protocols of runs. */
export interface ProtocolCheck {
  /** All differences; each part is named in `across`. */
  differences: ProtocolDifference[];
  /** Runs without a protocol on record. */
  unknown: string[];
}

/** Questions of only one side are left out and counted, so their numbers may differ. */
const NOT_COMPARED = new Set(["questions"]);

/** Name of the whole protocol, if only hashes are known. */
const WHOLE = "protocol";

/**
 * Compares protocols part by part with the first run's.
 *
 * @param across parts that may differ.
 * @throws {ConfigError} COMPARE_UNLIKE when another part differs, with all that differ; USAGE when `across` names no part.
 */
export function checkProtocols(
  runs: readonly ComparedRun[],
  across: readonly string[],
): ProtocolCheck {
  const parts = new Set(runs.flatMap(({ protocol }) => Object.keys(protocol ?? {})));
  const nameable = [...parts, WHOLE].filter((part) => !NOT_COMPARED.has(part));
  const stray = across.find((part) => !nameable.includes(part));
  if (stray !== undefined) {
    throw new ConfigError(
      "USAGE",
      `--across names "${stray}", which is no part of these runs' protocols. ${suggest(stray, nameable)}`,
    );
  }
  const known = runs.filter(({ fingerprint, protocol }) => fingerprint ?? protocol);
  const [first, ...others] = known;
  const differences =
    first === undefined ? [] : others.flatMap((run) => protocolDifferences(first, run));
  const unmeant = differences.filter(({ part }) => !across.includes(part));
  if (unmeant.length > 0) throw unlike(first?.name ?? "", unmeant);
  const unknown = runs.filter((run) => !known.includes(run)).map(({ name }) => name);
  return { differences, unknown };
}

/** All differences between the protocols of two runs. */
function protocolDifferences(left: ComparedRun, right: ComparedRun): ProtocolDifference[] {
  if (left.protocol === null || right.protocol === null) {
    if (left.fingerprint === right.fingerprint) return [];
    const hashes = { left: left.fingerprint, right: right.fingerprint };
    return [{ part: WHOLE, at: "", ...hashes, run: right.name }];
  }
  const [a, b] = [leaves(left.protocol), leaves(right.protocol)];
  const places = [...new Set([...a.keys(), ...b.keys()])];
  return places.flatMap((place) => {
    const [from, to] = [a.get(place), b.get(place)];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    const [part = "", ...inner] = place.split(SEPARATOR);
    return [{ part, at: inner.join("."), left: from, right: to, run: right.name }];
  });
}

/** Separates keys, which may contain dots. */
const SEPARATOR = "\n";

/** Values of a protocol by their place. Values that another part repeats are left out: `topK` is also in `environment`. */
function leaves(protocol: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const told = protocol["topK"] !== undefined;
  const kept = [...leavesOf(protocol)].filter(([keys]) => {
    const [part = ""] = keys;
    const repeated = told && part === "environment" && keys.at(-1) === "topK";
    return !NOT_COMPARED.has(part) && !repeated;
  });
  return new Map(kept.map(([keys, value]) => [keys.join(SEPARATOR), value]));
}

function unlike(first: string, differences: readonly ProtocolDifference[]): ConfigError {
  const parts = [...new Set(differences.map(({ part }) => part))];
  const listed = differences
    .slice(0, MOST_LISTED)
    .map((each) => `\n  ${differenceText(each)}${each.run === "" ? "" : ` (${each.run})`}`);
  const more = differences.length - listed.length;
  return new ConfigError(
    "COMPARE_UNLIKE",
    `${first}: has another protocol than the run that it is compared with; its value comes first.${listed.join("")}${more > 0 ? `\n  and ${more} more` : ""}\n${UNLIKE_ADVICE}, or name every part that may differ: --across ${parts.join(",")}.`,
  );
}

const MOST_LISTED = 12;

/** Begins the line of the message that names an option of `eval compare`; other commands leave that line out. */
export const UNLIKE_ADVICE = "Compare runs of one protocol";

/** A difference on one line: `topK.tools.0.topK: 3 ≠ 5`. */
export function differenceText({ part, at, left, right }: ProtocolDifference): string {
  const place = at === "" ? part : `${part}.${at}`;
  return `${place}: ${quote(left)} ≠ ${quote(right)}`;
}
