import { formatCount } from "../../base/format.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { protocolLeaves } from "../../evaluate/protocol-leaves.ts";
import { namesAlike } from "../claims/names-alike.ts";
import type { MeasuredSet } from "./measured-set.ts";
import type { PublishedSet, PublishedSets } from "./published-sets.ts";

/** A part of the protocol that our evaluations have otherwise than the recipe's tier `paper`. */
export interface SetupDifference {
  /** "questions", "samples", "retriever", "sampling.temperature", … */
  part: string;
  /** The values, and the columns that have them; in the order of the table. */
  found: { columns: string[]; ours: string; theirs: string }[];
}

/** What can be said of both protocols. */
export interface SetupComparison {
  differences: SetupDifference[];
  /** Parts that only one side states. */
  unseen: string[];
}

export type Difference = [part: string, ours: string, theirs: string];

/** Parts that are compared by themselves, or are another thing on each side. */
const APART = /^(dataset|questions|retriever|rendering|plugins|topK|prompt)(\.|$)/;

/** A setting that one side does not have. */
const ABSENT = "not set";

const CHAT = "chat template";
const PLAIN = "plain text";

/**
 * Every part in which evaluations differ from how the recipe's tier `paper` measures the same sets, and from each other.
 * @param model of the table. @param metric ours; `of` the table's.
 */
export function compareSetups(
  cells: ReadonlyMap<string, MeasuredSet>,
  { sets }: Pick<PublishedSets, "sets">,
  { model, metric, of }: { model: string | undefined; metric: string; of: string },
): SetupComparison {
  const unseen = new Set<string>();
  const found = new Map<string, SetupDifference>();
  const add = (column: string, [part, ours, theirs]: Difference): void => {
    const difference = found.get(part) ?? { part, found: [] };
    found.set(part, difference);
    const alike = difference.found.find((each) => each.ours === ours && each.theirs === theirs);
    if (alike === undefined) difference.found.push({ columns: [column], ours, theirs });
    else alike.columns.push(column);
  };
  for (const [column, set] of cells) {
    if (metric !== of) add(column, ["metric", metric, of]);
    const published = sets.get(column);
    const label = policyLabel(set.policy);
    if (model === undefined || !namesAlike(label, model)) unseen.add(`model (ours: ${label})`);
    if (published === undefined) unseen.add(`protocol of ${column}`);
    else for (const each of setDifferences(set, published, unseen)) add(column, each);
  }
  if (new Set([...cells.values()].map(policyOf)).size > 1) {
    for (const [column, set] of cells)
      add(column, ["policy", policyOf(set), "one policy for all sets"]);
  }
  const retrievers = new Set([...cells.values()].map(({ protocol }) => protocol["retriever"]));
  unseen.add(retrievers.size > 1 ? `corpus (ours: ${retrievers.size} retrievers)` : "corpus");
  return { differences: [...found.values()], unseen: [...unseen] };
}

/** A policy by name: a server has another port after each start, and answers of a file have a file for each set. */
export function policyOf({ policy, protocol }: MeasuredSet): string {
  if (protocol["environment"] === null) return "answers of files";
  return policy.model ?? policyLabel(policy);
}

/** Every part in which an evaluation differs from how settings measure its set. @param unseen gets the parts that only one side states. */
export function setDifferences(
  set: MeasuredSet,
  published: PublishedSet,
  unseen = new Set<string>(),
): Difference[] {
  const { protocol } = set;
  const differences: Difference[] = [];
  const hold = (part: string, ours: string, theirs: string): void => {
    if (ours !== theirs) differences.push([part, ours, theirs]);
  };
  hold("dataset", set.dataset, published.dataset);
  if (published.questions === null) unseen.add("questions");
  else if (set.asked !== published.questions)
    hold("questions", askedText(set), formatCount(published.questions));
  if (set.errors > 0) hold("failed draws", `${formatCount(set.errors)}, not measured`, "0");
  // Answers of a file: nobody knows how they were made.
  if (protocol["environment"] === null) {
    unseen.add("how the answers were made");
    return differences;
  }
  hold("samples", String(set.samples), String(published.samples));
  hold("retriever", kindOf(protocol["retriever"]), published.retriever);
  const [ours, theirs] = [leaves(protocol), leaves(published.protocol)];
  for (const part of new Set([...theirs.keys(), ...ours.keys()]))
    hold(part, ours.get(part) ?? ABSENT, theirs.get(part) ?? ABSENT);
  hold("prompt", ...promptsOf(protocol, published.protocol));
  hold("prompt format", renderingOf(protocol), published.chat ? CHAT : PLAIN);
  return differences;
}

function askedText({ asked, limit, shuffle }: MeasuredSet): string {
  const flags = [
    ...(limit === undefined ? [] : [`--limit ${limit}`]),
    ...(shuffle === undefined ? [] : [`--shuffle ${shuffle}`]),
  ];
  return `${formatCount(asked)}${flags.length === 0 ? "" : ` (${flags.join(" ")})`}`;
}

/** A retriever's name without the hash of what it searches. @example kindOf("bm25-0a1b2c3d4e5f6071") // "bm25" */
function kindOf(fingerprint: unknown): string {
  return String(fingerprint).replace(/-[0-9a-f]{8,}$/, "");
}

function leaves(protocol: Readonly<Record<string, unknown>>): Map<string, string> {
  return new Map(protocolLeaves(protocol).filter(([part]) => !APART.test(part)));
}

/** Ours without the place of given passages where theirs has none: a strategy of theirs gives none then, and it stays empty. */
function promptsOf(
  ours: Readonly<Record<string, unknown>>,
  theirs: Readonly<Record<string, unknown>>,
): [ours: string, theirs: string] {
  const textOf = ({ prompt }: Readonly<Record<string, unknown>>): string =>
    typeof prompt === "string" ? prompt.trim() : "";
  const [text, wanted] = [textOf(ours), textOf(theirs)];
  const shown = wanted.includes("{context}") ? text : text.replace("{context}", "").trim();
  return [JSON.stringify(shown), JSON.stringify(wanted)];
}

/** How prompts are written for the policy. */
function renderingOf({ rendering }: Readonly<Record<string, unknown>>): string {
  const { api } = (rendering ?? { api: "completions" }) as { api?: unknown };
  return api === "completions" ? PLAIN : CHAT;
}
