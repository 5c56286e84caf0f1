/** The pen of terminals for trajectories: message by message, who wrote what. */
import type { Owner, Trajectory } from "../trajectory/trajectory.ts";
import { type Line, type Piece, piece, type Style, widthOf, wrap } from "./styled.ts";
import { trajectoryBlocks, type TrajectoryReading } from "./trajectory-blocks.ts";
import type { ViewerBlock } from "./viewer/contract.ts";

/** Options of showing trajectories. */
export interface TrajectoryView extends Omit<TrajectoryReading, "gold"> {
  columns: number;
  /** Every line starts with its owner, for text search. */
  plain: boolean;
  /** Most lines of a text that the policy did not write. */
  shortenTo: number;
  /** Part of a live view: the end of a prompt is shown, because it has the question, and command flags are not mentioned. */
  live?: true;
}

const LABEL = 12;
const TAGS = /(<\/?(?:think|search|information|answer|tool_call|tool_response)>)/;

/** A trajectory's lines, a blank one between messages. */
export function trajectoryLines(trajectory: Trajectory, view: TrajectoryView): Line[] {
  const blocks = trajectoryBlocks(trajectory, { ...view, gold: null });
  return blocks.flatMap((block, i) => {
    if (block.kind === "message")
      return [...(i === 0 ? [] : [[]]), rule(block.title, view), ...spanLines(block, view)];
    return view.live === true && i === 0 ? [] : remarkLines(block, view);
  });
}

function remarkLines(
  { tone, title, text }: Extract<ViewerBlock, { kind: "remark" }>,
  view: TrajectoryView,
): Line[] {
  const isProblem = tone === "problem";
  const pieces = [piece(isProblem ? `${title}: ${text}` : text, isProblem ? "bad" : "note")];
  const lines = wrap(
    isProblem ? pieces : [piece(`${title}: `, "dim"), ...pieces],
    widthOfText(view),
  );
  return withLabel(isProblem ? "problem" : "", isProblem ? "bad" : "dim", lines, view);
}

/** Spans of one owner that follow each other are one text. */
function spanLines(
  { spans }: Extract<ViewerBlock, { kind: "message" }>,
  view: TrajectoryView,
): Line[] {
  const runs: { owner: Owner; text: string }[] = [];
  for (const { owner, text } of spans) {
    const last = runs.at(-1);
    if (last?.owner === owner) last.text += text;
    else runs.push({ owner, text });
  }
  return runs.flatMap(({ owner, text }) => ownedLines(owner, text, view));
}

const STYLES: Record<Owner, Style> = {
  policy: "plain",
  environment: "environment",
  template: "template",
  inserted: "inserted",
};

type TextView = Pick<TrajectoryView, "columns" | "plain" | "shortenTo" | "live">;

/** A text under its owner's name. */
export function ownedLines(owner: Owner, whole: string, view: TextView): Line[] {
  // Removes blank lines around a text, which already has a heading.
  const text = whole.replace(/^\s*\n/, "").replace(/\s+$/, "");
  if (text === "") return [];
  const style = STYLES[owner];
  const pieces = text
    .split(TAGS)
    .map((part, i) => piece(part, i % 2 === 1 && owner !== "inserted" ? "tag" : style));
  const lines = wrap(pieces, widthOfText(view));
  const limit = owner === "policy" || owner === "inserted" ? Infinity : view.shortenTo;
  const hidden = lines.length - limit;
  // Replacing one line by a note of one line saves nothing.
  if (hidden <= 1) return withLabel(owner, style, lines, view);
  const rest: Line = [
    piece(`… ${hidden} more lines${view.live === true ? "" : " (--full)"}`, "note"),
  ];
  const isEnd = view.live === true && owner === "template";
  const shown = isEnd ? [rest, ...lines.slice(-limit)] : [...lines.slice(0, limit), rest];
  return withLabel(owner, style, shown, view);
}

/** A fact under a name of its own, which is no owner's. */
export function labelledLines(
  label: string,
  { text, style }: Piece,
  view: Pick<TrajectoryView, "columns" | "plain">,
): Line[] {
  return withLabel(label, style, wrap([piece(text, style)], widthOfText(view)), view);
}

function widthOfText({ columns }: Pick<TrajectoryView, "columns">): number {
  return Math.max(20, columns - LABEL - 3);
}

function withLabel(
  label: string,
  style: Style,
  lines: readonly Line[],
  { plain }: Pick<TrajectoryView, "plain">,
): Line[] {
  return lines.map((line, i) => {
    const name = (plain || i === 0 ? label : "").padEnd(LABEL);
    const isMarked = style === "inserted" && name.trim() !== "";
    const mark: Piece[] = [
      piece(name, style === "plain" ? "bold" : isMarked ? style : "dim"),
      piece(plain ? " | " : " │ ", style === "plain" ? "tag" : "dim"),
    ];
    return [...mark, ...line];
  });
}

/** A heading that fills its line. */
export function rule(title: string | readonly Piece[], { columns }: { columns: number }): Line {
  const named = typeof title === "string" ? [piece(title, "bold")] : title;
  const line: Line = [piece("── ", "dim"), ...named, piece(" ", "dim")];
  return [...line, piece("─".repeat(Math.max(0, columns - widthOf(line))), "dim")];
}

/** Lines of a prompt or an observation in a pane, from the most to the fewest. */
const SHORTENED = [12, 6, 3, 1];

/**
 * A trajectory in a number of rows: prompts and observations are shortened first; then the middle is left out, because the question is at
 * the start and the answer at the end.
 */
export function paneLines(
  trajectory: Trajectory,
  rows: number,
  view: Pick<TrajectoryView, "columns" | "plain" | "textOf">,
): Line[] {
  let lines: Line[] = [];
  for (const shortenTo of SHORTENED) {
    const all = trajectoryLines(trajectory, { ...view, shortenTo, live: true });
    lines = all.filter((line) => line.length > 0);
    if (lines.length <= rows) return all.length <= rows ? all : lines;
  }
  const first = Math.min(Math.ceil((rows - 1) / 2), 4);
  const last = rows - 1 - first;
  const note: Line = [piece(`… ${lines.length - first - last} more lines`, "note")];
  return [...lines.slice(0, first), note, ...lines.slice(lines.length - last)];
}
