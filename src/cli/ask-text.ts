import { escapeRegExp } from "../base/escape-reg-exp.ts";
import { formatDuration, plural } from "../base/format.ts";
import type { Protocol, ProtocolTag } from "../env/protocols/protocol.ts";
import {
  type Observation,
  type Trajectory,
  type Turn,
  searchCount,
} from "../trajectory/trajectory.ts";
import { type Line, type Style, piece, wrap } from "../view/styled.ts";

/** What the lines of a turn are made with. */
export interface TurnView {
  columns: number;
  protocol: Pick<Protocol, "tags">;
  titleOf: (passage: string) => string | undefined;
}

/** A turn in the order in which it happened: thought, calls with what they found, answer. */
export function turnLines(turn: Turn, reasoning: string | undefined, view: TurnView): Line[] {
  const { actions, observations, problems } = turn;
  const thoughts = [reasoning ?? "", thoughtOf(turn.text, view.protocol.tags)];
  return [
    ...thoughts.flatMap((text) => labelled("thought", text, "plain", view)),
    ...actions.flatMap(({ tool, input }) =>
      labelled(tool, input, tool === "answer" ? "good" : "tag", view),
    ),
    ...observations.flatMap((each) =>
      labelled("found", observationText(each, view), "environment", view),
    ),
    ...[...problems, ...observations.flatMap(({ problem }) => problem ?? [])].flatMap(
      ({ message }) => labelled("problem", message, "bad", view),
    ),
  ];
}

/** What the strategy found before the policy wrote. */
export function givenLines(given: readonly Observation[], view: TurnView): Line[] {
  return given.flatMap((each) =>
    labelled("found", observationText(each, view), "environment", view),
  );
}

/** A message without its calls, answers and tags. */
function thoughtOf(text: string, tags: readonly ProtocolTag[]): string {
  let rest = text;
  for (const { holds, ...tag } of tags) {
    const [opening, closing] = [escapeRegExp(tag.opening), escapeRegExp(tag.closing)];
    const said = holds === "thought" || holds === "block";
    const hidden = said ? `${opening}|${closing}` : `${opening}[^]*?(${closing}|$)|${closing}`;
    rest = rest.replace(new RegExp(hidden, "g"), " ");
  }
  return rest.trim();
}

/** Passages by their titles, best first; any other result as it is. */
function observationText(
  { text, passageIds }: Observation,
  { titleOf }: Pick<TurnView, "titleOf">,
): string {
  if (passageIds === undefined || passageIds.length === 0) return text.trim();
  const titles = passageIds.map((id) => titleOf(id) ?? "");
  return titles.map((title, i) => title || (passageIds[i] ?? "")).join(" · ");
}

const LABEL = 10;

function labelled(label: string, text: string, style: Style, { columns }: TurnView): Line[] {
  if (text === "") return [];
  return wrap([piece(text, style)], Math.max(20, columns - LABEL)).map((line, i) => [
    piece((i === 0 ? label : "").padEnd(LABEL), "dim"),
    ...line,
  ]);
}

/** What an answer cost, in one line. */
export function costText(trajectory: Trajectory, seconds: number): string {
  return [
    plural(trajectory.calls.length, "message"),
    plural(searchCount(trajectory), "search", "searches"),
    plural(writtenTokens(trajectory), "token"),
    formatDuration(seconds),
  ].join(", ");
}

/** Tokens that models wrote. */
function writtenTokens({ calls }: Trajectory): number {
  return calls.reduce(
    (sum, { usage, completion }) =>
      sum + (usage?.completionTokens ?? completion.reduce((own, { ids }) => own + ids.length, 0)),
    0,
  );
}

/** The answer for `--json`, with its turns. */
export function answerJson(
  question: string,
  trajectory: Trajectory,
  { seconds, titleOf }: { seconds: number } & Pick<TurnView, "titleOf">,
): object {
  const { answer, end, turns, calls, given = [], error } = trajectory;
  const shown = ({ tool, text, passageIds = [] }: Observation): object => ({
    tool,
    text,
    passages: passageIds.map((id) => ({ id, title: titleOf(id) ?? null })),
  });
  return {
    question,
    answer,
    end,
    error,
    given: given.length === 0 ? undefined : given.map(shown),
    turns: turns.map(({ text, actions, observations, call }) => {
      const reasoning = calls[call]?.reasoning;
      return { text, actions, observations: observations.map(shown), reasoning };
    }),
    searches: searchCount(trajectory),
    completionTokens: writtenTokens(trajectory),
    seconds,
  };
}
