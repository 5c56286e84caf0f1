import type { Call, Observation, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { type Decode, hasTexts, segmentText } from "../../trajectory/segment-text.ts";
import type { ViewerBlock, ViewerPassage, ViewerSpan } from "./contract.ts";

/** What a trajectory's text is read with. */
export interface TrajectoryReading {
  /** Without it messages are shown as they were scored, not as tokens were. */
  decode: Decode | null;
  /** Ids of the passages that were to be found; null: not known. */
  gold: readonly string[] | null;
}

/**
 * A trajectory as blocks for the viewer: one per message, what led to it first. Text is that of the tokens, by who wrote them;
 * where the tokens cannot be read (no tokenizer), messages and observations stand for them, which lack prompt and template.
 */
export function trajectoryBlocks(
  trajectory: Trajectory,
  reading: TrajectoryReading,
): ViewerBlock[] {
  const { calls, turns, error, given = [] } = trajectory;
  const exact = calls.length > 0 && hasTexts(calls, reading.decode);
  const messages = exact
    ? calls.flatMap((call, index) => {
        const turn = turns.find((own) => own.call === index);
        const before = turns.find((own) => own.call === call.parent);
        const shown = before?.observations ?? (call.parent === null ? given : []);
        return messageOfCall({ call, index, turn, shown }, calls, reading);
      })
    : turns.flatMap((turn, index) => messageOfTurn(turn, index, reading));
  return [
    ...(exact || turns.length === 0 ? [] : [NO_TOKENIZER]),
    ...messages,
    ...(error === undefined ? [] : [failure(error)]),
  ];
}

const NO_TOKENIZER: ViewerBlock = {
  kind: "remark",
  tone: "plain",
  title: "Messages as they were scored",
  text: "The policy's tokenizer was not at hand, so prompt and template are not shown.",
};

interface Message {
  call: Call;
  index: number;
  turn: Turn | undefined;
  /** What came back before it. */
  shown: readonly Observation[];
}

function messageOfCall(
  { call, index, turn, shown }: Message,
  calls: readonly Call[],
  reading: TrajectoryReading,
): ViewerBlock[] {
  const read = (segments: readonly Segment[]): ViewerSpan[] =>
    segments.flatMap((segment) => spansOf(segment, shown, reading));
  const prompt = read(call.prompt);
  // A first prompt explains the protocol's tags; later ones contain observations between tags.
  const first = prompt.map((span): ViewerSpan => ({ ...span, mentionsTags: true }));
  const spans = [...(call.parent === null ? first : prompt), ...read(call.completion)];
  const written = call.completion.reduce((sum, { ids }) => sum + ids.length, 0);
  const tokens = call.usage?.completionTokens ?? (written > 0 ? written : null);
  const branches = calls.filter(({ parent }) => parent === call.parent).length > 1;
  const title = [
    `Message ${index + 1}`,
    ...(call.role === "policy" ? [] : [call.role]),
    ...(branches && call.parent !== null ? [`continues message ${call.parent + 1}`] : []),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(call.finish === "stop" || call.finish === "eos" ? [] : [`cut: ${call.finish}`]),
  ].join(" · ");
  return [
    { kind: "message", title, spans, passages: passagesOf(shown, reading) },
    ...(call.reasoning === undefined ? [] : [thought(call.reasoning)]),
    ...problemsOf(turn),
  ];
}

function messageOfTurn(turn: Turn, index: number, reading: TrajectoryReading): ViewerBlock[] {
  const { text, observations } = turn;
  const spans: ViewerSpan[] = [
    { owner: "policy", text },
    ...observations.flatMap((shown) => marked("environment", shown.text, [shown], reading)),
  ];
  const passages = passagesOf(observations, reading);
  return [{ kind: "message", title: `Message ${index + 1}`, spans, passages }, ...problemsOf(turn)];
}

function spansOf(
  segment: Segment,
  shown: readonly Observation[],
  reading: TrajectoryReading,
): ViewerSpan[] {
  const text = segmentText(segment, reading.decode) ?? "";
  if (text === "") return [];
  return segment.owner === "policy"
    ? [{ owner: "policy", text }]
    : marked(segment.owner, text, shown, reading);
}

/** Text with the passages in it apart, so that those that were to be found can be marked. */
function marked(
  owner: Segment["owner"],
  text: string,
  shown: readonly Observation[],
  { gold }: TrajectoryReading,
): ViewerSpan[] {
  if (gold === null) return [{ owner, text }];
  const spans: ViewerSpan[] = [];
  let at = 0;
  for (const { passage, id } of shown.flatMap(passageTexts)) {
    const start = text.indexOf(passage, at);
    if (start < 0) continue;
    if (start > at) spans.push({ owner, text: text.slice(at, start) });
    spans.push({ owner, text: passage, gold: gold.includes(id) });
    at = start + passage.length;
  }
  return at < text.length ? [...spans, { owner, text: text.slice(at) }] : spans;
}

/** The lines of an observation that are passages, in the order of `passageIds`; none where their number does not fit. */
function passageTexts({ text, passageIds = [] }: Observation): { passage: string; id: string }[] {
  const pieces = text.split(/\n*^(?=Doc \d+\(Title: )/m).filter((piece) => piece.trim() !== "");
  // What is shown may have been cut to a budget: then there are fewer.
  if (pieces.length > passageIds.length || !/^Doc 1\(/.test(pieces[0] ?? "")) return [];
  return pieces.map((piece, i) => ({ passage: piece.trimEnd(), id: passageIds[i] ?? "" }));
}

function passagesOf(shown: readonly Observation[], { gold }: TrajectoryReading): ViewerPassage[] {
  return shown.flatMap(({ passageIds = [] }) =>
    passageIds.map((id) => ({ id, gold: gold === null ? null : gold.includes(id) })),
  );
}

function problemsOf(turn: Turn | undefined): ViewerBlock[] {
  if (turn === undefined) return [];
  const problems = [
    ...turn.problems,
    ...turn.observations.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
  ];
  return problems.map(({ code, message }) => ({
    kind: "remark",
    tone: "problem",
    title: code,
    text: message,
  }));
}

function thought(text: string): ViewerBlock {
  return { kind: "remark", tone: "plain", title: "Thought before the message", text };
}

function failure({ boundary, code, message }: NonNullable<Trajectory["error"]>): ViewerBlock {
  return { kind: "remark", tone: "problem", title: `${boundary}: ${code}`, text: message };
}
