import { fixed, plural, shorten } from "../../base/format.ts";
import { calibrationProblems } from "./instrument.ts";
import type { ClaimResult, Reproduction } from "./claim-results.ts";
import { namesAlike } from "./names-alike.ts";
import { daysText } from "./run-origin.ts";

type Reproduced = Pick<Reproduction, "tier" | "seeds" | "looks" | "levels" | "prior" | "runs">;

/** How intervals and p are made, for the end of every form of the results. */
export function methodNote({ looks, levels, prior, runs }: Reproduced): string {
  const byRule = runs.some(({ origin }) => origin.given !== undefined)
    ? "The number of seeds is that of the given runs."
    : looks.length === 1
      ? "The number of seeds was fixed: an exploration, which the atlas does not show."
      : `Claims are looked at after ${looks.slice(0, -1).join(", ")} and ${looks.at(-1)} seeds, at the levels ${levels.join(", ")}, which add up to .05.`;
  return (
    "An interval covers other seeds and other questions: both errors are added. The variance between seeds of a share is moderated by a " +
    `prior of ${prior.degrees} degrees of freedom at a deviation of ${prior.deviation}. A claim is supported or reversed if p is below the level of its look ` +
    `after Holm's correction over the recipe's claims, and ruled out if the smallest effect of interest is excluded likewise. ${byRule} ` +
    "Detectable: the smallest difference that these runs would have found with a chance of 80 %."
  );
}

/**
 * A claim's verdict with its reason.
 * @example "NOT ABLE TO SHOW (ceiling: …)"
 */
export function verdictLine(claim: ClaimResult): string {
  const reason = reasonOf(claim);
  const verdict = claim.verdict.toUpperCase();
  return reason === null ? verdict : `${verdict} (${reason})`;
}

function reasonOf({
  verdict,
  comparisons,
  questions,
  arms,
  instrument,
  effect,
}: ClaimResult): string | null {
  if (instrument !== null) return instrument;
  const deciding = comparisons.find((each) => each.verdict === verdict);
  const of = questions === null ? "" : `: ${plural(questions, "question")}`;
  switch (verdict) {
    case "not tested":
      return `smoke proves nothing${of}`;
    case "identical arms":
      return `${deciding?.left} and ${deciding?.right} have equal settings or gave the same answers with every seed`;
    case "not able to show":
      return deciding?.room === "ceiling"
        ? `ceiling: even all ${questions ?? ""} questions right would not be shown to be above ${deciding.right}`
        : `floor: ${deciding?.left} is not shown to be above all ${questions ?? ""} questions wrong`;
    case "different":
      return "the miniature tells a method from itself, so other differences that it finds are in doubt";
    case "ruled out":
      return `${deciding?.left} ${deciding?.relation} ${deciding?.right} by less than ${deciding?.margin === 0 ? effect?.size : deciding?.margin}`;
    case "undecided":
      return openReason({ comparisons, arms });
    default:
      return null;
  }
}

/** Why a claim stayed undecided, where there is more to say than its detectable difference. */
function openReason({
  comparisons,
  arms,
}: Pick<ClaimResult, "comparisons" | "arms">): string | null {
  if (arms[0]?.seeds.length === 1)
    return "one seed says nothing about other seeds: use --seeds 3 or more";
  if (comparisons.every(({ p }) => p === null) && arms.every(({ ci95 }) => ci95 === null))
    return "the seeds agree, and the questions are not known one by one";
  if (comparisons.some(({ verdict, isOpenEnded }) => isOpenEnded && verdict === "undecided"))
    return "runs ended before it happened, so the direction of the difference is open";
  return null;
}

/** What is given instead of trained, and where it was measured; nothing for runs of a reproduction. */
export function givenText({ runs }: Pick<Reproduction, "runs">): string[] {
  const given = runs.flatMap(({ seed, arms, origin }) =>
    origin.given === undefined ? [] : [{ seed, arms, given: origin.given }],
  );
  if (given.length === 0) return [];
  return [
    `${plural(given.length, "run")} trained elsewhere: the evaluations are given, and nothing is known of the training.`,
    ...given.map(({ seed, arms, given: evaluations }) => {
      const sets = evaluations.map(({ dataset }) => dataset).join(", ");
      const policies = [...new Set(evaluations.map(({ policy }) => policy))].join(", ");
      return `${arms.join(", ")}, seed ${seed}: ${policies}; ${sets}.`;
    }),
  ];
}

/** What a reader must know of a claim's numbers. */
export function remarksOn(claim: ClaimResult): string[] {
  return [
    ...roleText(claim),
    ...unequalText(claim),
    ...boundsText(claim),
    ...constantText(claim),
    ...elsewhereText(claim),
  ];
}

/** What a test that is no claim of the paper is for. */
function roleText({ role }: ClaimResult): string[] {
  switch (role) {
    case "claim":
      return [];
    case "positive-control":
      return [
        "Positive control: where it is not found, the miniature cannot show the claims either.",
      ];
    case "equal-arms":
      return ["Equal arms: one method twice with other random numbers, which must not differ."];
  }
}

/** What arms do not have in common beside the method. */
function unequalText({ unequal }: ClaimResult): string[] {
  return unequal.map(({ what, arms }) => {
    const values = Object.entries(arms).map(([name, value]) => `${name} ${value}`);
    return `Arms differ in ${what}: ${values.join("; ")}.`;
  });
}

/** Runs that ended before what the metric waits for. */
function boundsText({ arms, metric }: ClaimResult): string[] {
  return arms.flatMap(({ name, bounds, values }) =>
    bounds === 0
      ? []
      : [
          `${name}: ${metric} did not happen in ${bounds} of ${plural(values.length, "run")}; there the value is the last step, a lower bound.`,
        ],
  );
}

/** Whether the control is where methods can differ; nothing where the recipe declares no calibration. */
export function calibrationText({ calibration }: Pick<Reproduction, "calibration">): string[] {
  if (calibration === null) return [];
  const { metric, start, end } = calibration;
  const part = ({ mean: measured, range }: typeof start): string =>
    `${fixed(3)(measured)} (${range.join(" to ")})`;
  const problems = calibrationProblems(calibration);
  const judged = problems.length === 0 ? "within its ranges" : "outside its ranges";
  return [`Control: ${metric} from ${part(start)} to ${part(end)}, ${judged}.`];
}

/** Arms in which nothing is random, such as an untrained policy at temperature 0. */
function constantText({ arms }: ClaimResult): string[] {
  const same = arms.filter(({ isSameForAllSeeds }) => isSameForAllSeeds).map(({ name }) => name);
  if (same.length === 0) return [];
  return [
    `Every seed gave the same answers in ${same.join(", ")}: there the interval covers the questions only.`,
  ];
}

/** What an arm measured otherwise than the paper's cell beside it: dataset and model. Nothing where they agree or no cell is given. */
function elsewhereText({ arms }: ClaimResult): string[] {
  const differing = (part: "dataset" | "model"): string[] => {
    const pairs = arms.flatMap((arm) => {
      const theirs = arm.paper?.[part] ?? null;
      return theirs === null || namesAlike(arm[part], theirs) ? [] : [{ ours: arm[part], theirs }];
    });
    if (pairs.length === 0) return [];
    const list = (side: "ours" | "theirs"): string =>
      [...new Set(pairs.map((pair) => pair[side]))].join(" and ");
    return [`${part} ${list("theirs")}, here ${list("ours")}`];
  };
  const found = [...differing("dataset"), ...differing("model")];
  return found.length === 0
    ? []
    : [`The paper measured something else: ${found.join("; ")}. Compare directions, not numbers.`];
}

/** @example "2 claims: 1 supported, 1 not able to show" */
export function tallyText({ claims }: Pick<Reproduction, "claims">): string {
  return `${plural(claims.length, "claim")}: ${verdictCounts(claims)}`;
}

/** @example "1 supported, 1 not able to show" */
export function verdictCounts(claims: readonly Pick<ClaimResult, "verdict">[]): string {
  const verdicts = [...new Set(claims.map(({ verdict }) => verdict))];
  const counts = verdicts.map(
    (verdict) => `${claims.filter((claim) => claim.verdict === verdict).length} ${verdict}`,
  );
  return counts.join(", ");
}

/** That claims are not measured where `agentrl train` trains; nothing where they are. */
export function baseText({
  recipe,
  tier,
  base,
}: Pick<Reproduction, "recipe" | "tier" | "base">): string[] {
  if (base.length === 0) return [];
  return [
    `Claims are not measured on the settings of agentrl train --recipe ${recipe} --tier ${tier}, which are easy so that a first run succeeds, but on settings of their own (claims.base of the recipe), on which methods can differ: ${plural(base.length, "setting")} ${base.length === 1 ? "differs" : "differ"}.`,
  ];
}

/** A value of a setting as the tables of `base` show it. */
export function settingValue(value: unknown): string {
  if (value === null) return "not set";
  return shorten(typeof value === "string" ? value : JSON.stringify(value), 60);
}

/**
 * Whether results are of the recipe as it is; nothing where they are.
 * @param isCurrent null: the results do not say.
 */
export function staleText(recipe: string, isCurrent: boolean | null): string[] {
  if (isCurrent === true) return [];
  const found =
    isCurrent === null
      ? "These results do not record the settings that they were measured on, so they cannot be compared with the recipe as it is."
      : "These numbers were measured on claims or settings that the recipe no longer has.";
  return [`${found} To measure again: agentrl reproduce ${recipe} --keep`];
}

/** When a recipe's claims were measured, in a few words for lists. */
export function measuredText({
  claims,
  results,
  isCurrent,
}: {
  claims: readonly string[];
  results: Pick<Reproduction, "runs"> | null;
  isCurrent: boolean | null;
}): string {
  if (results === null) return claims.length === 0 ? "" : "not measured";
  return `${daysText(results.runs)}${isCurrent === false ? ", on other settings" : ""}`;
}
