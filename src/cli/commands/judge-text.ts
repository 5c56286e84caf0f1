import { ABSENT, fixed, formatCount, formatShare, orAbsent } from "../../base/format.ts";
import { intervalColumn, renderText } from "../../base/table.ts";
import type { Agreement } from "../../evaluate/judge/agreement.ts";
import type { AttackResult } from "../../evaluate/judge/attacks.ts";
import type { Calibration } from "../../evaluate/judge/calibrate.ts";
import type { HumanAgreement } from "../../evaluate/judge/human-verdicts.ts";
import type { JudgeTraffic } from "../../evaluate/judge/judge-asker.ts";
import type { JudgeSummary } from "../../evaluate/judge/judge-summary.ts";
import type { JudgeIdentity } from "../../evaluate/judge/judge.ts";
import type { Interval, Share } from "../../evaluate/statistics.ts";

/** Both rates of a calibration, and the judge's errors. */
export function calibrationText(calibration: Calibration, judge: JudgeIdentity): string {
  const { rightAccepted, wrongRejected, unparsed, mistakes } = calibration;
  const shown = mistakes.slice(0, SHOWN_MISTAKES).map(({ prediction, verdict, question }) => {
    return `  ${verdict}: ${quoted(prediction, 34)} to ${quoted(question, 34)}`;
  });
  const more = mistakes.length - shown.length;
  return [
    `judge ${judge.model}, prompt ${judge.prompt.name} v${judge.prompt.version} (${judge.prompt.hash}), replies as ${judge.format}`,
    "calibration on answers whose verdict is known:",
    renderText(
      {
        columns: ["", { label: "", align: "right" }],
        rows: [
          ["right ones accepted", countsText(rightAccepted), shareText(rightAccepted)],
          ["wrong ones rejected", countsText(wrongRejected), shareText(wrongRejected)],
        ],
      },
      2,
    ),
    ...(unparsed > 0 ? [`  ${unparsed} verdicts could not be read.`] : []),
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ].join("\n");
}

const SHOWN_MISTAKES = 5;

/** A judge's run for people. */
export function judgeRunText(summary: JudgeSummary): string {
  const { n, judged, notEvaluated, byRule, metrics, intervals, bounds, agreement, flips } = summary;
  const four = fixed(4);
  const beside = Object.entries(agreement).map(([name, each]) => [
    name,
    shareText(each.accuracy),
    orAbsent(each.kappa, formatShare),
    each.falseAccept.count,
    each.falseReject.count,
  ]);
  return [
    `${n} answers, ${judged} judged (${byRule} say nothing: wrong without asking)`,
    "",
    renderText({
      columns: ["", { label: "", format: four }, intervalColumn("", four)],
      rows: [
        ["judge_accuracy", metrics.judge_accuracy, intervals.judge_accuracy ?? ""],
        ["em", metrics.em],
        ["f1", metrics.f1],
        ["cover_em", metrics.cover_em],
      ],
    }),
    ...(notEvaluated === 0
      ? []
      : [
          "",
          `${notEvaluated} not evaluated (${codesText(summary.errors)}): were they all wrong, all right,`,
          `judge_accuracy would be ${bounds.judge_accuracy.map((bound) => orAbsent(bound, four)).join(", ")}`,
        ]),
    "",
    renderText({
      columns: [
        ...["agrees with", "share"],
        { label: "kappa", align: "right" },
        ...["judge only", "metric only"].map((label) => ({ label, format: formatCount })),
      ],
      rows: beside,
    }),
    ...(flips === null ? [] : ["", `verdicts that differ between repeats: ${shareText(flips)}`]),
    "",
    `95 % intervals; judge and protocol ${summary.fingerprint}`,
  ].join("\n");
}

/** The number of requests and tokens, for stderr. */
export function trafficText({ asked, cached, reasked, cost, ...tokens }: JudgeTraffic): string {
  const { promptTokens, completionTokens } = tokens;
  const paid = cost === null ? "" : `, ${cost.amount.toFixed(2)} ${cost.currency}`;
  const used = asked === 0 ? "" : `; ${promptTokens} + ${completionTokens} tokens${paid}`;
  const again = reasked === 0 ? "" : `, ${reasked} unreadable and asked again`;
  return `${asked} requests answered by the server, ${cached} by the cache${again}${used}`;
}

/** Attacks, and how many of each were accepted. */
export function attacksText(results: readonly AttackResult[]): string {
  const rows = results.map(({ attack, falsePositives, guarded, unparsed }) => [
    attack,
    countsText(falsePositives),
    shareText(falsePositives),
    countsText(guarded),
    unparsed === 0 ? "" : String(unparsed),
  ]);
  const fooled = results.flatMap(({ attack, example }) =>
    example === null ? [] : [`  ${attack}: ${quoted(example.prediction, 60)}`],
  );
  return [
    renderText({
      columns: [
        "attack",
        { label: "accepted", align: "right" },
        "share",
        ...["after rule", "unread"].map((label) => ({ label, align: "right" as const })),
      ],
      rows,
    }),
    ...(fooled.length === 0 ? [] : ["", "accepted, for example:", ...fooled]),
    "",
    "95 % intervals (Wilson). after rule: as in `judge run`, where an answer that",
    "says nothing is wrong without asking.",
  ].join("\n");
}

/** Agreement with humans: a row for each source of verdicts, over all systems, then by system. */
export function humanAgreementText(results: Readonly<Record<string, HumanAgreement>>): string {
  const entries = Object.entries(results);
  const systems = Object.keys(entries[0]?.[1].systems ?? {});
  const block = (title: string, of: (each: HumanAgreement) => Agreement | undefined): string => {
    const measured = entries.flatMap(([, each]) => of(each) ?? []);
    const distinct = (values: readonly (string | number)[]) => [...new Set(values)].join(" or ");
    const methods = measured.map(({ shareIntervals }) => METHODS[shareIntervals]);
    return [
      `${title}, ${distinct(measured.map(({ n }) => n))} answers; intervals of shares: ${distinct(methods)}`,
      renderText(
        {
          columns: ["", "accuracy", "kappa", "false accept", "false reject"],
          rows: entries.flatMap(([name, each]) => {
            const agreement = of(each);
            return agreement === undefined ? [] : [agreementRow(name, agreement)];
          }),
        },
        2,
      ),
    ].join("\n");
  };
  return [
    block("all systems", ({ all }) => all),
    ...systems.map((system) => block(system, (each) => each.systems[system])),
  ].join("\n\n");
}

const METHODS: Record<Agreement["shareIntervals"], string> = {
  wilson: "Wilson",
  bootstrap: "bootstrap over questions",
};

function agreementRow(name: string, agreement: Agreement): string[] {
  const { accuracy, kappa, kappaCi95, falseAccept, falseReject } = agreement;
  return [
    name,
    shareText(accuracy),
    kappa === null ? ABSENT : `${formatShare(kappa)} ${intervalText(kappaCi95)}`,
    shareText(falseAccept),
    shareText(falseReject),
  ];
}

function countsText({ count, n }: Share): string {
  return `${count}/${n}`;
}

function shareText({ rate, ci95 }: Share): string {
  return rate === null ? ABSENT : `${formatShare(rate)} ${intervalText(ci95)}`;
}

/** Ends of an interval of shares, in few characters. */
function intervalText(interval: Interval | null): string {
  return interval === null ? "" : interval.map((end) => formatShare(end)).join("–");
}

/** On one line, cut; control and invisible characters are escaped. */
function quoted(text: string, width: number): string {
  const line = JSON.stringify(text).replace(
    /\p{C}/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

function codesText(codes: Readonly<Record<string, number>>): string {
  return Object.entries(codes)
    .map(([code, count]) => `${code} ${count}`)
    .join(", ");
}
