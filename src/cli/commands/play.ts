import { quoted } from "../../base/format.ts";
import { nearestName } from "../../base/nearest.ts";
import type { Episodes } from "../../run/episodes.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { painted } from "../../view/styled.ts";
import { claimWriting } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import {
  type Flags,
  jsonFlag,
  options,
  outFlag,
  pluginFlag,
  seedFlag,
  setFlag,
  tierFlag,
  wholeNumber,
} from "../options.ts";
import { openGameScreen } from "../play/game-screen.ts";
import { defaultRunFolder, RECIPE, requiredRecipe, settingsOf } from "../recipe-options.ts";
import { factLines, outcomeFacts } from "../trace/outcome-lines.ts";
import { screenOf } from "../trace/screen.ts";
import { usage } from "../usage.ts";

const OPTIONS = options({
  recipe: ["<name>", "the recipe; the same as the argument"],
  tier: tierFlag(),
  seed: seedFlag(),
  set: setFlag(),
  plugin: pluginFlag(),
  task: ["<id>", "id of the task (default: by --index)"],
  index: ["<n>", "number of the task, counted from 0 (default: 0)", wholeNumber(0)],
  evaluation: [
    "",
    "a task of the evaluation, with its budgets and strategy (default: of the training)",
  ],
  out: outFlag(
    "folder of the recorded games; games of the same settings are added to it (default: runs/<recipe>-<tier>-seed<N>-play)",
  ),
  json: jsonFlag("one JSON document on stdout: .task, .answer, .end, .reward, .rewards[], .file"),
});

/** `agentrl play`: a person in the policy's place. */
export const playCommand = defineCommand({
  name: "play",
  description:
    "Play a task of a recipe in the policy's place: you read what the policy reads and type its messages. Tools, budgets, strategy " +
    "and rewards are the recipe's, no model is loaded for the policy, and the game is recorded like a rollout of a server's policy. " +
    "Messages come from the terminal, or from the lines of stdin. /help lists the commands of the game.",
  args: [RECIPE],
  options: OPTIONS,
  conflicts: { task: ["index"] },
  run: play,
});

async function play(
  flags: Flags<typeof OPTIONS>,
  context: CliContext,
  argument: string | undefined,
): Promise<void> {
  const recipe = requiredRecipe(argument, flags.recipe);
  const resolved = await settingsOf({ ...flags, recipe });
  const { openEpisodes } = await import("../../run/episodes.ts");
  const { findGameFolder } = await import("../../run/game-folder.ts");
  const preset = `${defaultRunFolder(resolved)}-play`;
  const folder = await findGameFolder(resolved, { named: flags.out, preset });
  claimWriting(folder.path);
  const set = flags.evaluation === true ? "evaluation" : "training";
  const episodes = await openEpisodes(resolved.settings, set);
  try {
    const { task, index } = chosenTask(episodes, flags);
    const of = `${set} task ${index} of ${episodes.tasks.length} · ${task.id}`;
    const title = [`${resolved.recipe.name} ${resolved.tier}`, of] as const;
    const id = `${task.id}/${folder.games}`;
    const trajectory = await playTask(episodes, { task, index, id, title }, context);
    const isPlayed = trajectory.calls.length > 0;
    if (isPlayed) await folder.add(trajectory);
    const { answer, end, error, reward, rewards } = trajectory;
    if (flags.json === true) {
      const file = isPlayed ? folder.file : null;
      context.out(JSON.stringify({ task: task.id, answer, end, error, reward, rewards, file }));
      return;
    }
    const { columns, colours } = screenOf(process.stdout, process.env);
    const failed = error === undefined ? null : `${error.code}: ${error.message}`;
    const number = folder.games === 0 ? "" : ` --index ${folder.games}`;
    const facts = [
      ...outcomeFacts(trajectory, episodes.environment.answers ? task : null),
      ["Error", failed],
      ["Recorded", isPlayed ? folder.file : "nothing: no message was written"],
    ] as const;
    context.note("");
    context.out(painted(factLines([...facts], { columns }), colours));
    // Not wrapped, so that it can be copied.
    if (isPlayed) context.out(`\n${context.call} trace show ${quoted(folder.file)}${number}`);
  } finally {
    await episodes.close();
  }
}

interface Game {
  task: Task;
  index: number;
  id: string;
  title: readonly [recipe: string, task: string];
}

async function playTask(
  episodes: Episodes,
  { task, index, id, title }: Game,
  context: CliContext,
): Promise<Trajectory> {
  const { signal } = context;
  const { policyTokenizer } = await import("../../run/policy-tokenizer.ts");
  const { awaitedText } = await import("../../rollout/awaited-text.ts");
  const { settings, environment, comparing } = episodes;
  const tokenizer = await policyTokenizer(settings);
  const screen = openGameScreen(environment, context);
  try {
    screen.begin(...title);
    if (tokenizer === null) context.note(estimateText(settings));
    for (const reward of comparing)
      context.note(`reward "${reward}" compares episodes; here it sees this one alone.`);
    const policy = awaitedText(screen.write, tokenizer, { takesPrefill: true });
    const own = { policy, task, seed: index, id, signal, onTurn: screen.show };
    const { trajectory, unscored } = await episodes.play(own);
    screen.show(trajectory);
    for (const { reward, message } of unscored)
      context.note(`reward "${reward}" is not scored: ${message}`);
    return trajectory;
  } finally {
    screen.close();
  }
}

function estimateText({ policy: { endpoint, from } }: Settings): string {
  const whose = endpoint?.model ?? from;
  return `The tokenizer of ${whose} is not on this machine, so budgets count four characters as a token.`;
}

/** The task that --task or --index names. @throws {ConfigError} USAGE when there is none. */
function chosenTask(
  { tasks }: Episodes,
  { task: id, index = 0 }: Flags<typeof OPTIONS>,
): { task: Task; index: number } {
  const at = id === undefined ? index : tasks.findIndex((task) => task.id === id);
  const task = tasks[at];
  if (task !== undefined) return { task, index: at };
  const count = `The dataset has ${tasks.length} tasks`;
  if (id === undefined)
    throw usage(`--index is ${index}. ${count}, numbered from 0 to ${tasks.length - 1}.`);
  const nearest =
    nearestName(
      id,
      tasks.map((each) => each.id),
    ) ??
    tasks[0]?.id ??
    "";
  throw usage(
    `--task is "${id}"; no task has this id. ${count}, such as "${nearest}"; --index takes one by its number, --evaluation those of the evaluation.`,
  );
}
