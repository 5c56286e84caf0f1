import { createInterface } from "node:readline/promises";
import { ConfigError, RolloutError } from "../../base/errors.ts";
import type { AskSession } from "../../run/ask.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../run/settings/settings.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { answerJson, costText, givenLines, turnLines } from "../ask-text.ts";
import type { CliCommand, CliContext } from "../command.ts";
import {
  addAnsweringOptions,
  loadAnsweringHelp,
  type MeasuringFlags,
  measuringSettings,
} from "../eval-flags.ts";
import { watchDownload } from "../model-download.ts";
import { jsonOption } from "../options.ts";
import { screenOf } from "../trace/screen.ts";
import { painted } from "../../view/styled.ts";

type AskFlags = Omit<MeasuringFlags, "limit" | "samples"> & { json?: true };

/** `agentrl ask`: questions to a policy, with its turns as they happen. */
export const askCommand: CliCommand = {
  name: "ask",
  async register(program, context) {
    await loadAnsweringHelp(context);
    const command = program
      .command("ask")
      .description(
        "Ask a policy a question. Its thoughts, searches and found passages appear as they happen on stderr, the answer on stdout. " +
          "Without a question it asks for questions at a terminal (Ctrl-D ends), or reads one per line from stdin. --policy also " +
          "takes a run folder or a checkpoint in it, whose settings and passages then apply.",
      )
      .argument("[question]", "a question");
    addAnsweringOptions(command)
      .addOption(jsonOption("one JSON document per question on stdout, one per line"))
      .action((question: string | undefined, flags: AskFlags) => ask(question, flags, context));
  },
};

async function ask(
  question: string | undefined,
  flags: AskFlags,
  context: CliContext,
): Promise<void> {
  if (question?.trim() === "") throw noQuestion();
  const { openAskSession } = await import("../../run/ask.ts");
  const { settings } = await askSettings(flags, context);
  const { signal } = context;
  const download = watchDownload(context);
  if (settings.policy.endpoint !== undefined && flags.index === undefined)
    await noteFiction(settings, context);
  const session = await openAskSession(settings, {
    signal,
    download: download.options,
    index: flags.index,
  }).finally(() => {
    download.stop();
  });
  try {
    const one = answering(session, flags.json === true, context);
    if (question !== undefined) await one(question).then(requireAnswered);
    else if (process.stdin.isTTY) await prompted(one, context);
    else await piped(one, context);
  } finally {
    await session.close();
  }
}

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
    return measuringSettings(asked, { note, data: flags.dataset ?? flags.index });
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
    `Searches find passages of ${name}, a generated fictional world. --index or --dataset names your own passages.`,
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
  return new ConfigError(
    "USAGE",
    'No question was given. Write it behind the command (agentrl ask "…"), or one per line to stdin.',
  );
}
