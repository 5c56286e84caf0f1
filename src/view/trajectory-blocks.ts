import { rounded } from "../base/format.ts";
import { mainLine } from "../trajectory/lint/lint-rule.ts";
import type { Call, Observation, Segment, Trajectory, Turn } from "../trajectory/trajectory.ts";
import type { ViewerBlock, ViewerPassage, ViewerSpan } from "./viewer/contract.ts";

/** What a trajectory's text is read with. */
export interface TrajectoryReading {
  /** null: it has only ids, and there is no tokenizer. */
  textOf: (segment: Segment) => string | null;
  /** Ids of the passages that were to be found; null: not known. */
  gold: readonly string[] | null;
  /** The first call that is shown. */
  fromCall?: number;
}

/**
 * A trajectory as blocks, for pages and terminals: one per message, what led to it first. Text is that of the tokens, by who wrote them;
 * where the tokens cannot be read (no tokenizer), messages and observations stand for them, which lack prompt and template.
 */
export function trajectoryBlocks(
  trajectory: Trajectory,
  reading: TrajectoryReading,
): ViewerBlock[] {
  const { calls, turns, error, given = [] } = trajectory;
  const { fromCall = 0, textOf } = reading;
  const segments = calls.flatMap(({ prompt, completion }) => [...prompt, ...completion]);
  const exact = calls.length > 0 && segments.every((segment) => textOf(segment) !== null);
  const messages = exact
    ? calls.flatMap((call, index) => {
        if (index < fromCall) return [];
        const before = turns.find((own) => own.call === call.parent);
        const shown = before?.observations ?? (call.parent === null ? given : []);
        return messageOfCall({ call, index, shown }, trajectory, reading);
      })
    : turns.flatMap((turn, i) => (turn.call < fromCall ? [] : messageOfTurn(turn, i, reading)));
  return [
    ...(exact || turns.length === 0 ? [] : [NO_TOKENIZER]),
    ...messages,
    ...(error === undefined
      ? []
      : [remark("problem", `${error.boundary}: ${error.code}`, error.message)]),
  ];
}

function remark(tone: "plain" | "problem", title: string, text: string): ViewerBlock {
  return { kind: "remark", tone, title, text };
}

const NO_TOKENIZER = remark(
  "plain",
  "Messages as they were scored",
  "The policy's tokenizer was not at hand, so prompt and template are not shown.",
);

interface Message {
  call: Call;
  index: number;
  /** What came back before it. */
  shown: readonly Observation[];
}

function messageOfCall(
  { call, index, shown }: Message,
  { calls, turns, rewards }: Trajectory,
  reading: TrajectoryReading,
): ViewerBlock[] {
  const turn = turns.find((own) => own.call === index);
  const read = (segments: readonly Segment[]): ViewerSpan[] =>
    segments.flatMap((segment) => spansOf(segment, shown, reading));
  const prompt = read(call.prompt);
  // A first prompt explains the protocol's tags; later ones contain observations between tags.
  const first = prompt.map((span): ViewerSpan => ({ ...span, mentionsTags: true }));
  const spans = [...(call.parent === null ? first : prompt), ...read(call.completion)];
  const written = call.completion.reduce((sum, { ids }) => sum + ids.length, 0);
  const tokens = call.usage?.completionTokens ?? written;
  const branches = calls.filter(({ parent }) => parent === call.parent).length > 1;
  const follows = call.parent !== null && (branches || call.parent !== index - 1);
  const title = [
    `Message ${index + 1}`,
    ...(call.role === "policy" ? [] : [call.role]),
    ...(turn?.chain === undefined ? [] : [turn.chain]),
    ...(turn === undefined && mainLine({ turns }).length > 0 ? ["of no turn"] : []),
    ...(follows ? [`continues message ${(call.parent ?? 0) + 1}`] : []),
    ...(index > 0 && call.parent === null ? ["a prompt of its own"] : []),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(call.finish === "stop" || call.finish === "eos" ? [] : [`cut: ${call.finish}`]),
  ].join(" · ");
  const addressed = rewards.filter(({ at }) => at?.call === index);
  return [
    { kind: "message", title, spans, passages: passagesOf(shown, reading) },
    ...(call.reasoning === undefined
      ? []
      : [remark("plain", "Thought before the message", call.reasoning)]),
    ...addressed.map(({ name, value, at }) => {
      const place = at?.token === undefined ? "" : ` at token ${at.token}`;
      return remark(
        "plain",
        "Reward",
        `${name} ${value === null ? "not scored" : rounded(value)}${place}`,
      );
    }),
    ...problemsOf(turn),
  ];
}

function messageOfTurn(turn: Turn, index: number, reading: TrajectoryReading): ViewerBlock[] {
  const { text, observations, chain } = turn;
  const spans: ViewerSpan[] = [
    { owner: "policy", text },
    ...observations.flatMap((shown) => marked("environment", shown.text, [shown], reading)),
  ];
  const title = [`Message ${index + 1}`, ...(chain === undefined ? [] : [chain])].join(" · ");
  const passages = passagesOf(observations, reading);
  return [{ kind: "message", title, spans, passages }, ...problemsOf(turn)];
}

function spansOf(
  segment: Segment,
  shown: readonly Observation[],
  reading: TrajectoryReading,
): ViewerSpan[] {
  const text = reading.textOf(segment) ?? "";
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
  const { problems = [], observations = [] } = turn ?? {};
  const all = [...problems, ...observations.flatMap(({ problem }) => problem ?? [])];
  const inner = observations.flatMap(({ calls = [] }) => calls);
  return [
    ...inner.map(({ tool, input, text }) =>
      remark("plain", `inner call of ${tool} "${input}"`, text),
    ),
    ...all.map(({ code, message }) => remark("problem", code, message)),
  ];
}
