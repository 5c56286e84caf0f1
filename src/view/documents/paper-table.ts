/** A paper's table with our row in it. */
import {
  ABSENT,
  formatCount,
  formatDifference,
  formatScore,
  orAbsent,
  shorten,
} from "../../base/format.ts";
import type {
  MissingCell,
  OurCell,
  PaperTableRow,
} from "../../experiment/paper-table/paper-table.ts";
import type { SetupDifference } from "../../experiment/paper-table/setup-differences.ts";
import { isAverage } from "../../experiment/paper-table/columns.ts";
import { type Block, type Cell, note, strong, table } from "../document.ts";
import { READS_GOLD } from "./scores.ts";

/** The table with our row last, our row set by set, and where our protocol differs. @param measure writes the command for missing sets; null: there is none. */
export function paperTableBlocks(
  found: PaperTableRow,
  measure: ((datasets: readonly string[]) => string) | null,
): Block[] {
  const { paper, table: own, metric } = found;
  const title = [own.id, own.model, own.title].filter((part) => part !== undefined).join(", ");
  const metrics = metric === own.metric ? metric : `${own.metric}; ours: ${metric}`;
  return [
    ...(paper === undefined ? [] : [{ kind: "text" as const, text: strong(paper.title) }]),
    { kind: "text", text: `${title} (${metrics})` },
    wholeTable(found),
    setTable(found),
    ...notes(found),
    ...missingBlocks(found, measure),
    ...(found.readsGold ? [{ kind: "warning" as const, text: READS_GOLD }] : []),
    ...differenceBlocks(found),
  ];
}

function wholeTable({ columns, rows, name, cells, average }: PaperTableRow): Block {
  const ours = columns.map((column) => {
    if (isAverage(column)) return average?.value ?? null;
    return cells.find((cell) => cell.column === column)?.value ?? null;
  });
  return {
    ...table(
      "The paper's table with our row",
      ["", ...columns.map((label) => ({ label, format: formatScore }))],
      [
        ...rows.map((row) => [row.name, ...row.values]),
        [strong(name), ...ours.map((value) => strong(orAbsent(value, formatScore)))],
      ],
    ),
    inParts: true,
  };
}

/** Our row, a line for each set: the width of a terminal has no room for intervals in the table itself. */
function setTable({ name, row, columns, cells, average, missing }: PaperTableRow): Block {
  const beside = ({ published, gap, inside }: Omit<OurCell, "value">): Cell[] =>
    row === null ? [] : [published, gap, inside === null ? ABSENT : inside ? "yes" : "no"];
  const lines = columns.flatMap((column): Cell[][] => {
    if (isAverage(column)) {
      if (average === null) return [[column, null, ""]];
      const { value, ci95: interval } = average;
      return [[column, { value, interval }, "", ...beside(average as OurCell)]];
    }
    const cell = cells.find((each) => each.column === column);
    if (cell === undefined)
      return missing.some((each) => each.column === column) ? [[column, null, "missing"]] : [];
    const { value, ci95: interval } = cell;
    return [[column, { value, interval }, questionsText(cell), ...beside(cell)]];
  });
  const against =
    row === null
      ? []
      : [
          { label: "published", format: formatScore },
          { label: "gap", format: formatDifference },
          "inside",
        ];
  return table(
    "Our row, set by set",
    [
      "",
      { label: name, format: formatScore },
      { label: "questions", align: "right" as const },
      ...against,
    ],
    lines,
  );
}

function questionsText({ n, publishedN }: OurCell): string {
  return publishedN === null || publishedN === n
    ? formatCount(n)
    : `${formatCount(n)} of ${formatCount(publishedN)}`;
}

function notes({ row, name, policy, average, hasAverage, others }: PaperTableRow): Block[] {
  return [
    `${name}: ${policy}`,
    ...(row === null
      ? []
      : [`published: ${row}; gap: ${name} minus published, which is treated as exact`]),
    "Intervals (95 %) are over questions alone: another training seed has other numbers.",
    ...(average === null && hasAverage ? [] : hasAverage ? [AVERAGE] : []),
    ...(others.length === 0 ? [] : [`The paper's other tables: ${others.join("; ")}`]),
  ].map((text) => note(text));
}

const AVERAGE =
  "average: mean of the sets, each with the same weight; its interval is from those of the sets";

function missingBlocks(
  { missing, hasAverage, leftOut }: PaperTableRow,
  measure: ((datasets: readonly string[]) => string) | null,
): Block[] {
  const datasets = missing.flatMap(({ dataset }) => dataset ?? []);
  const left = leftOut.map(({ folder, dataset }) => `${folder} (${dataset})`);
  return [
    ...(missing.length === 0
      ? []
      : [{ kind: "warning" as const, text: missingText(missing, hasAverage) }]),
    ...(datasets.length === 0 || measure === null
      ? []
      : [
          {
            kind: "command" as const,
            does: "measures what is missing; add your other options",
            command: measure(datasets),
          },
        ]),
    ...(left.length === 0 ? [] : [note(`Not in the table: ${left.join(", ")}.`)]),
  ];
}

/** @example "No average: PopQA and own are missing. No dataset of agentrl is named like own: give its evaluation as "own=FOLDER"." */
function missingText(missing: readonly MissingCell[], hasAverage: boolean): string {
  const listed = (columns: readonly string[]): string =>
    [columns.slice(0, -1).join(", "), ...columns.slice(-1)]
      .filter((text) => text !== "")
      .join(" and ");
  const quoted = (column: string): string => (column.includes(",") ? `"${column}"` : column);
  const are = missing.length === 1 ? "is" : "are";
  const text = `${listed(missing.map(({ column }) => quoted(column)))} ${are} missing.`;
  const unknown = missing.filter(({ dataset }) => dataset === null).map(({ column }) => column);
  const [first] = unknown;
  const cure =
    first === undefined
      ? ""
      : ` No dataset of agentrl is named like ${listed(unknown.map(quoted))}: give the evaluation as "${first}=FOLDER".`;
  return `${hasAverage ? "No average: " : ""}${text}${cure}`;
}

function differenceBlocks({ differences, unseen, named, cells, recipe }: PaperTableRow): Block[] {
  return [
    ...(differences.length === 0
      ? [note(`The protocol is that of ${recipe}, tier paper, in all that both state.`)]
      : [
          note(`The protocol differs from that of ${recipe}, tier paper:`),
          {
            kind: "list" as const,
            items: differences.map((each) => differenceText(each, cells.length)),
          },
        ]),
    ...(named.length === 0
      ? []
      : [
          note("The tier itself differs from the paper:"),
          { kind: "list" as const, items: [...named] },
        ]),
    ...(unseen.length === 0 ? [] : [note(`Not known of both sides: ${unseen.join(", ")}.`)]),
  ];
}

/** Characters of a value in a list. */
const LONGEST = 120;

/** @example "samples: ours 4, theirs 1"; "questions: ours 20, theirs 3,610 (NQ); ours 20, theirs 125 (Bamboogle)" */
function differenceText({ part, found }: SetupDifference, sets: number): string {
  const texts = found.map(({ columns, ours, theirs }) => {
    const where = columns.length === sets ? "" : ` (${columns.join(", ")})`;
    return `ours ${shorten(ours, LONGEST)}, theirs ${shorten(theirs, LONGEST)}${where}`;
  });
  return `${part}: ${texts.join("; ")}`;
}
