import { mainLine } from "../../trajectory/lint/lint-rule.ts";
import type { Call, Owner, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { type Line, type Piece, piece, type Style, widthOf, wrap } from "../../view/styled.ts";

/** Options of showing trajectories. */
export interface TrajectoryView {
  columns: number;
  /** Every line starts with its owner, for text search. */
  plain: boolean;
  /** Most lines of a text that the policy did not write. */
  shortenTo: number;
  textOf: (segment: Segment) => string | null;
  /** The first call that is shown. */
  fromCall?: number;
  /** Part of a live view: the end of a prompt is shown, because it has the question, and command flags are not mentioned. */
  live?: true;
}

const LABEL = 12;
const TAGS = /(<\/?(?:think|search|information|answer|tool_call|tool_response)>)/;

/** A trajectory message by message: its context, the policy's text, inserted text. */
export function trajectoryLines(trajectory: Trajectory, view: TrajectoryView): Line[] {
  const { calls, turns, error } = trajectory;
  const { fromCall = 0 } = view;
  const readable = calls.every(({ prompt, completion }) =>
    [...prompt, ...completion].every((segment) => view.textOf(segment) !== null),
  );
  const lines =
    readable && calls.length > 0
      ? calls.flatMap((call, index) =>
          index < fromCall ? [] : callLines({ call, index, trajectory }, view),
        )
      : turnLines(
          turns.filter(({ call }) => call >= fromCall),
          calls,
          view,
        );
  if (error !== undefined)
    lines.push([], ...remark(`${error.boundary}: ${error.code}`, error.message, view, "bad"));
  return lines;
}

/** Without a tokenizer: messages and observations as recorded. */
function turnLines(turns: readonly Turn[], calls: readonly Call[], view: TrajectoryView): Line[] {
  const note =
    turns.length === 0 || calls.length === 0 || view.live === true
      ? []
      : [[piece("Without the policy's tokenizer (--model) prompts are not shown.", "note")], []];
  return [
    ...note,
    ...turns.flatMap((turn, i) => [
      ...(i === 0 ? [] : [[]]),
      rule([`message ${i + 1}`, ...(turn.chain === undefined ? [] : [turn.chain])], view),
      ...ownedLines("policy", turn.text, view),
      ...turn.observations.flatMap(({ text }) => ownedLines("environment", text, view)),
      ...problemLines(turn, view),
    ]),
  ];
}

interface ShownCall {
  call: Call;
  index: number;
  trajectory: Trajectory;
}

function callLines({ call, index, trajectory }: ShownCall, view: TrajectoryView): Line[] {
  const { turns, rewards } = trajectory;
  const turn = turns.find((own) => own.call === index);
  const tokens =
    call.usage?.completionTokens ?? call.completion.reduce((sum, { ids }) => sum + ids.length, 0);
  const follows = call.parent !== null && call.parent !== index - 1;
  const facts = [
    `message ${index + 1}`,
    ...(call.role === "policy" ? [] : [call.role]),
    ...(turn?.chain === undefined ? [] : [turn.chain]),
    ...(turn === undefined && mainLine({ turns }).length > 0 ? ["of no turn"] : []),
    ...(follows ? [`continues message ${(call.parent ?? 0) + 1}`] : []),
    ...(index > 0 && call.parent === null ? ["a prompt of its own"] : []),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(call.finish === "length" || call.finish === "context" ? [`cut: ${call.finish}`] : []),
  ];
  const own = rewards.filter(({ at }) => at?.call === index);
  return [
    ...(index === (view.fromCall ?? 0) ? [] : [[]]),
    rule(facts, view),
    ...segmentLines([...call.prompt, ...call.completion], view),
    ...(call.reasoning === undefined ? [] : remark("thought apart", call.reasoning, view, "dim")),
    ...own.flatMap(({ name, value, at }) => {
      const place = at?.token === undefined ? "" : ` at token ${at.token}`;
      return remark("reward", `${name} ${value ?? "not scored"}${place}`, view, "note");
    }),
    ...(turn === undefined ? [] : problemLines(turn, view)),
  ];
}

/** Segments of one owner that follow each other are one text. */
function segmentLines(segments: readonly Segment[], view: TrajectoryView): Line[] {
  const runs: { owner: Owner; text: string }[] = [];
  for (const segment of segments) {
    const text = view.textOf(segment) ?? "";
    const last = runs.at(-1);
    if (last?.owner === segment.owner) last.text += text;
    else runs.push({ owner: segment.owner, text });
  }
  return runs.flatMap(({ owner, text }) => ownedLines(owner, text, view));
}

const STYLES: Record<Owner, Style> = {
  policy: "plain",
  environment: "environment",
  template: "template",
  inserted: "inserted",
};

function ownedLines(owner: Owner, whole: string, view: TrajectoryView): Line[] {
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
  const shown = hidden > 1 ? shortened(lines, { owner, limit, live: view.live === true }) : lines;
  return withLabel(owner, style, shown, view);
}

function shortened(
  lines: readonly Line[],
  { owner, limit, live }: { owner: Owner; limit: number; live: boolean },
): Line[] {
  const hidden = lines.length - limit;
  if (!live) return [...lines.slice(0, limit), [piece(`… ${hidden} more lines (--full)`, "note")]];
  const rest: Line = [piece(`… ${hidden} more lines`, "note")];
  return owner === "template" ? [rest, ...lines.slice(-limit)] : [...lines.slice(0, limit), rest];
}

function remark(label: string, text: string, view: TrajectoryView, style: Style): Line[] {
  const lines = wrap([piece(text, style)], widthOfText(view));
  return withLabel(label, style, lines, view);
}

function problemLines({ problems, observations }: Turn, view: TrajectoryView): Line[] {
  const all = [
    ...problems,
    ...observations.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
  ];
  return all.flatMap(({ code, message }) => remark("problem", `${code}: ${message}`, view, "bad"));
}

function widthOfText({ columns }: TrajectoryView): number {
  return Math.max(20, columns - LABEL - 3);
}

function withLabel(
  label: string,
  style: Style,
  lines: readonly Line[],
  { plain }: TrajectoryView,
): Line[] {
  return lines.map((line, i) => {
    const name = (plain || i === 0 ? label : "").padEnd(LABEL);
    const mark: Piece[] = [
      piece(
        name,
        style === "plain" ? "bold" : style === "inserted" && name.trim() !== "" ? style : "dim",
      ),
      piece(plain ? " | " : " │ ", style === "plain" ? "tag" : "dim"),
    ];
    return [...mark, ...line];
  });
}

function rule(facts: readonly string[], { columns }: TrajectoryView): Line {
  const line: Line = [piece("── ", "dim"), piece(facts.join(" · "), "bold"), piece(" ", "dim")];
  return [...line, piece("─".repeat(Math.max(2, columns - widthOf(line))), "dim")];
}
