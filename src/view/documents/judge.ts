import {
  ABSENT,
  formatCount,
  formatFineScore,
  formatMoney,
  formatShare,
  orAbsent,
} from "../../base/format.ts";
import { visibleLine } from "../../base/visible-text.ts";
import type { Agreement } from "../../evaluate/judge/agreement.ts";
import type { AttackResult } from "../../evaluate/judge/attacks.ts";
import type { HumanAgreement } from "../../evaluate/judge/human-verdicts.ts";
import type { JudgeTraffic } from "../../evaluate/judge/judge-asker.ts";
import type { JudgeSummary } from "../../evaluate/judge/judge-summary.ts";
import type { Calibration, JudgeIdentity } from "../../evaluate/judge/judge.ts";
import type { Interval, Share } from "../../evaluate/statistics.ts";
import { type Block, heading, note, table } from "../document.ts";

const SHOWN_MISTAKES = 5;
const RIGHT = { align: "right" } as const;

/** Both rates of a calibration, and the judge's errors. */
export function calibrationBlocks(calibration: Calibration, judge: JudgeIdentity): Block[] {
  const { rightAccepted, wrongRejected, unparsed, mistakes } = calibration;
  const shown = mistakes.slice(0, SHOWN_MISTAKES).map(({ prediction, verdict, question }) => {
    return `${verdict}: ${quoted(prediction, 34)} to ${quoted(question, 34)}`;
  });
  const more = mistakes.length - shown.length;
  const { name, version, hash } = judge.prompt;
  const rates = { "right ones accepted": rightAccepted, "wrong ones rejected": wrongRejected };
  return [
    note(`judge ${judge.model}, prompt ${name} v${version} (${hash}), replies as ${judge.format}`),
    heading("calibration on answers whose verdict is known"),
    table(
      "Calibration",
      ["", { label: "", ...RIGHT }, ""],
      Object.entries(rates).map(([label, share]) => [label, countsText(share), shareText(share)]),
    ),
    ...(unparsed > 0 ? [note(`${unparsed} verdicts could not be read.`)] : []),
    { kind: "list", items: [...shown, ...(more > 0 ? [`… and ${more} more`] : [])] },
  ];
}

/** A judge's run. */
export function judgeRunBlocks(summary: JudgeSummary): Block[] {
  const { n, judged, notEvaluated, byRule, metrics, intervals, bounds, agreement, flips } = summary;
  const codes = Object.entries(summary.errors).map(([code, count]) => `${code} ${count}`);
  const names = ["judge_accuracy", "em", "f1", "cover_em"] as const;
  const ends = bounds.judge_accuracy.map((bound) => orAbsent(bound, formatFineScore)).join(", ");
  return [
    {
      kind: "text",
      text: `${n} answers, ${judged} judged (${byRule} say nothing: wrong without asking)`,
    },
    table(
      "Scores",
      ["", { label: "mean", format: formatFineScore }],
      names.map((name) => [
        ...[
          name,
          {
            value: metrics[name],
            interval: name === "judge_accuracy" ? intervals[name] : undefined,
          },
        ],
      ]),
    ),
    ...(notEvaluated === 0
      ? []
      : [
          note(
            `${notEvaluated} not evaluated (${codes.join(", ")}): were they all wrong, all right, judge_accuracy would be ${ends}`,
          ),
        ]),
    table(
      "Agreement",
      [
        ...["agrees with", "share"],
        { label: "kappa", ...RIGHT },
        ...["judge only", "metric only"].map((label) => ({ label, format: formatCount })),
      ],
      Object.entries(agreement).map(([name, each]) => [
        ...[name, shareText(each.accuracy), orAbsent(each.kappa, formatShare)],
        ...[each.falseAccept.count, each.falseReject.count],
      ]),
    ),
    ...(flips === null ? [] : [note(`verdicts that differ between repeats: ${shareText(flips)}`)]),
    note(`95 % intervals; judge and protocol ${summary.fingerprint}`),
  ];
}

/** The number of requests and tokens. */
export function trafficText({ asked, cached, reasked, cost, ...tokens }: JudgeTraffic): string {
  const { promptTokens, completionTokens } = tokens;
  const paid = cost === null ? "" : `, ${formatMoney(cost)}`;
  const used = asked === 0 ? "" : `; ${promptTokens} + ${completionTokens} tokens${paid}`;
  const again = reasked === 0 ? "" : `, ${reasked} unreadable and asked again`;
  return `${asked} requests answered by the server, ${cached} by the cache${again}${used}`;
}

/** Attacks, and how many of each were accepted. */
export function attackBlocks(results: readonly AttackResult[]): Block[] {
  const fooled = results.flatMap(({ attack, example }) =>
    example === null ? [] : [`${attack}: ${quoted(example.prediction, 60)}`],
  );
  return [
    table(
      "Attacks",
      [
        ...["attack", { label: "accepted", ...RIGHT }, "share"],
        ...["after rule", "unread"].map((label) => ({ label, ...RIGHT })),
      ],
      results.map(({ attack, falsePositives, guarded, unparsed }) => [
        ...[attack, countsText(falsePositives), shareText(falsePositives), countsText(guarded)],
        unparsed === 0 ? "" : String(unparsed),
      ]),
    ),
    ...(fooled.length === 0
      ? []
      : [note("accepted, for example:"), { kind: "list" as const, items: fooled }]),
    note(
      "95 % intervals (Wilson). after rule: as in `judge run`, where an answer that says nothing is wrong without asking.",
    ),
  ];
}

/** Agreement with humans: a row for each source of verdicts, over all systems, then by system. */
export function humanAgreementBlocks(results: Readonly<Record<string, HumanAgreement>>): Block[] {
  const entries = Object.entries(results);
  const systems = Object.keys(entries[0]?.[1].systems ?? {});
  const part = (title: string, of: (each: HumanAgreement) => Agreement | undefined): Block[] => {
    const measured = entries.flatMap(([name, each]) => {
      const agreement = of(each);
      return agreement === undefined ? [] : [[name, agreement] as const];
    });
    const distinct = (value: (each: Agreement) => string | number): string =>
      [...new Set(measured.map(([, each]) => value(each)))].join(" or ");
    const methods = distinct(({ shareIntervals }) => METHODS[shareIntervals]);
    return [
      heading(`${title}, ${distinct(({ n }) => n)} answers; intervals of shares: ${methods}`),
      table(
        title,
        ["", "accuracy", "kappa", "false accept", "false reject"],
        measured.map(agreementRow),
      ),
    ];
  };
  return [
    ...part("all systems", ({ all }) => all),
    ...systems.flatMap((system) => part(system, (each) => each.systems[system])),
  ];
}

const METHODS: Record<Agreement["shareIntervals"], string> = {
  wilson: "Wilson",
  bootstrap: "bootstrap over questions",
};

function agreementRow([name, { accuracy, kappa, kappaCi95, ...errors }]: readonly [
  string,
  Agreement,
]): string[] {
  return [
    ...[name, shareText(accuracy)],
    kappa === null ? ABSENT : `${formatShare(kappa)} ${intervalText(kappaCi95)}`,
    ...[shareText(errors.falseAccept), shareText(errors.falseReject)],
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
  const line = visibleLine(JSON.stringify(text));
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}
