import { createInterface } from "node:readline/promises";
import { type ConfigError, RolloutError } from "../../base/errors.ts";
import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { formatDuration, plural } from "../../base/format.ts";
import { closingPattern, type Protocol, type ProtocolTag } from "../../env/protocols/protocol.ts";
import type { AskSession } from "../../run/ask.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../run/settings/settings.ts";
import { searchCount } from "../../trajectory/trajectory.ts";
import type { Observation, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { type Line, painted, piece, type Style, wrap } from "../../view/styled.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { addStrategies, ANSWERING_OPTIONS, measuringSettings } from "../eval-flags.ts";
import { withDownload } from "../model-download.ts";
import { type Flags, jsonFlag, options } from "../options.ts";
import { screenOf } from "../trace/screen.ts";
import { usage } from "../usage.ts";

const OPTIONS = options({
  ...ANSWERING_OPTIONS,
  json: jsonFlag("one JSON document per question on stdout, one per line"),
});

type AskFlags = Flags<typeof OPTIONS>;

/** `agentrl ask`: questions to a policy, with its turns as they happen. */
export const askCommand = defineCommand({
  name: "ask",
  description:
    "Ask a policy a question. Its thoughts, searches and found passages appear as they happen on stderr, the answer on stdout. " +
    "Without a question it asks for questions at a terminal (Ctrl-D ends), or reads one per line from stdin. --policy also " +
    "takes a run folder or a checkpoint in it, whose settings and passages then apply.",
  args: [["[question]", "a question"]],
  options: OPTIONS,
  more: addStrategies,
  async run(flags, context, question) {
    if (question?.trim() === "") throw noQuestion();
    const { openAskSession } = await import("../../run/ask.ts");
    const { settings } = await askSettings(flags, context);
    const { signal } = context;
    if (settings.policy.endpoint !== undefined && (flags.index ?? flags.retriever) === undefined)
      await noteFiction(settings, context);
    const session = await withDownload(context, (download) =>
      openAskSession(settings, { signal, download, index: flags.index }),
    );
    try {
      const one = answering(session, flags.json === true, context);
      if (question !== undefined) await one(question).then(requireAnswered);
      else if (process.stdin.isTTY) await prompted(one, context);
      else await piped(one, context);
    } finally {
      await session.close();
    }
  },
});

/** A run's policy has its run's settings, unless the user names a recipe. Without a run, the data decide the budgets. */
async function askSettings(
  flags: AskFlags,
  { note }: CliContext,
): Promise<ResolvedSettings<Settings>> {
  const { policyOfRun } = await import("../../run/folder/policy-of-run.ts");
  const { policy, recipe, tier } = flags;
  const ofRun = policy === undefined ? null : await policyOfRun(policy);
  if (ofRun === null || recipe !== undefined || tier !== undefined) {
    const asked = ofRun === null ? flags : { ...flags, policy: ofRun.policy };
    return measuringSettings(asked, {
      note,
      data: flags.dataset ?? flags.index ?? flags.retriever,
    });
  }
  const { withOverrides } = await import("../../run/settings/settings.ts");
  const { settingsSchema } = await import("../../run/settings/settings-schema.ts");
  const resolved = await measuringSettings({ ...flags, ...ofRun }, { note });
  // What the run trained is in its weights already.
  const trained = ["policy.fresh", "policy.lora"].map((key) => {
    return { key, value: undefined, origin: "--policy" };
  });
  return withOverrides(settingsSchema, resolved, trained);
}

/** A server's model knows the real world, so an answer from the fictional one surprises. */
async function noteFiction({ evaluation }: Settings, { note }: CliContext): Promise<void> {
  const { worlds } = await import("../../worlds/index.ts");
  const { name } = evaluation.dataset;
  if (!worlds.parts.some(({ datasets }) => datasets.some((each) => each.name === name))) return;
  note(
    `Searches find passages of ${name}, a generated fictional world. --index, --retriever or --dataset names your own passages.`,
  );
}

type Answering = (question: string) => Promise<Trajectory>;

/** Asks a question with all output. */
function answering(session: AskSession, json: boolean, context: CliContext): Answering {
  return async (question) => {
    const unknown = session.unknownWords(question);
    if (unknown.length > 0) context.note(smallWorldText(unknown));
    const begun = performance.now();
    const show = json ? () => undefined : turnsAsTheyHappen(session, context);
    const trajectory = await session.ask(question, show);
    show(trajectory);
    const seconds = Math.round((performance.now() - begun) / 10) / 100;
    const { titleOf } = session;
    if (json) context.out(JSON.stringify(answerJson(question, trajectory, { seconds, titleOf })));
    else if (trajectory.error === undefined) {
      context.note("");
      context.document(trajectory.answer?.trim() ?? `no answer (${trajectory.end})`);
      context.note(costText(trajectory, seconds));
    }
    return trajectory;
  };
}

function smallWorldText(words: readonly string[]): string {
  return (
    `This policy does not know the ${words.length === 1 ? "word" : "words"} ${words.join(", ")}: its vocabulary is that of a generated ` +
    "world (docs/worlds.md), so its answer means nothing. For other questions name a real model with --policy."
  );
}

/** Shows the turns of a record that were not shown before. */
function turnsAsTheyHappen(
  { protocol, titleOf }: AskSession,
  context: CliContext,
): (trajectory: Trajectory) => void {
  const { columns, colours } = screenOf(process.stderr, process.env);
  const view = { columns, protocol, titleOf };
  let shown = -1;
  return ({ turns, calls, given = [] }) => {
    const lines = shown < 0 ? givenLines(given, view) : [];
    for (const turn of turns.slice(Math.max(0, shown)))
      lines.push(...turnLines(turn, calls[turn.call]?.reasoning, view));
    shown = turns.length;
    if (lines.length > 0) context.note(painted(lines, colours));
  };
}

/** @throws {RolloutError} the failure that ended a trajectory. */
function requireAnswered({ error }: Trajectory): void {
  if (error !== undefined) throw new RolloutError(error.code as "TOOL_FAILED", error.message);
}

/** Questions at a terminal; a failure is shown, and the next question can follow. */
async function prompted(one: Answering, context: CliContext): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    context.note("Ask a question; Ctrl-D ends.");
    for (;;) {
      const question = await terminal
        .question("\n? ", { signal: context.signal })
        .catch(() => null);
      context.signal.throwIfAborted();
      if (question === null) {
        context.note("");
        return;
      }
      if (question.trim() === "") continue;
      const { error } = await one(question.trim());
      if (error !== undefined) context.note(`${error.code}: ${error.message}`);
    }
  } finally {
    terminal.close();
  }
}

/** One question per line of stdin. */
async function piped(one: Answering, context: CliContext): Promise<void> {
  let asked = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const question = line.trim();
    if (question === "") continue;
    context.note(`${asked === 0 ? "" : "\n"}? ${question}`);
    await one(question).then(requireAnswered);
    asked += 1;
  }
  if (asked > 0) return;
  throw noQuestion();
}

function noQuestion(): ConfigError {
  return usage(
    'No question was given. Write it behind the command (agentrl ask "…"), or one per line to stdin.',
  );
}

/** What the lines of a turn are made with. */
interface TurnView {
  columns: number;
  protocol: Pick<Protocol, "tags">;
  titleOf: (passage: string) => string | undefined;
}

/** A turn in the order in which it happened: thought, calls with what they found, answer. */
function turnLines(turn: Turn, reasoning: string | undefined, view: TurnView): Line[] {
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
function givenLines(given: readonly Observation[], view: TurnView): Line[] {
  return given.flatMap((each) =>
    labelled("found", observationText(each, view), "environment", view),
  );
}

/** A message without its calls, answers and tags. */
function thoughtOf(text: string, tags: readonly ProtocolTag[]): string {
  let rest = text;
  for (const { holds, whole, ...tag } of tags) {
    const [opening, closing] = [escapeRegExp(tag.opening), closingPattern(tag)];
    const said = holds === "thought" || holds === "block";
    const other =
      whole === undefined ? `${opening}[^]*?(${closing}|$)|${closing}` : `${whole}|${opening}[^]*$`;
    const hidden = said ? `${opening}|${closing}` : other;
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
function costText(trajectory: Trajectory, seconds: number): string {
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
function answerJson(
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
