import { existsSync } from "node:fs";
import { join, normalize } from "node:path";
import { createInterface } from "node:readline/promises";
import { formatCount, plural, quoted, shorten } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import { PASSAGE_WORDS } from "../../data/text-folder.ts";
import type { InitResult, OwnPolicy } from "../../run/init.ts";
import { analyzers, DEFAULT_ANALYZER } from "../../text/analyzer.ts";
import { claimOutput, claimWriting } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { FIELD_OPTIONS, fieldsOf, noteDatasetFields } from "../data-flags.ts";
import { EXPLAINED_PROMPT } from "../eval-flags.ts";
import { withProgress } from "../model-download.ts";
import { type Flags, jsonFlag, options, overwriteFlag } from "../options.ts";
import { usage } from "../usage.ts";

const OPTIONS = options({
  questions: [
    "<file>",
    "questions with their accepted answers, e.g. questions.csv (default: made from the passages, as synth-data questions does)",
  ],
  passages: [
    "<path>",
    "corpus file, or folder of text files (default: the contexts that the questions have)",
  ],
  policy: [
    "<name>",
    "who answers: address of an OpenAI-compatible server (http://…/v1), a model's folder, or org/name of the hub",
  ],
  model: ["<name>", "for a server: the model, as it names it"],
  apiKeyEnv: [
    "<name>",
    "for a server: environment variable that holds the key, e.g. OPENAI_API_KEY",
  ],
  chat: [
    "",
    "for a folder or the hub: ask through the model's chat template (default: for a folder that has one, and for smollm2-135m)",
  ],
  noChat: ["", "for a folder or the hub: send plain text"],
  analyzer: [
    "<name>",
    "words and stems of the index (default: what fits the script and language of the passages)",
    analyzers.names,
  ],
  ...FIELD_OPTIONS,
  overwrite: overwriteFlag("replace an existing agentrl.yaml and index"),
  json: jsonFlag(),
});

type InitFlags = Flags<typeof OPTIONS>;

/** `agentrl init`: from the user's own files to a recipe and the commands that use it. */
export const initCommand = defineCommand({
  name: "init",
  description:
    "Set up your own data: read your questions and passages, index the passages, write a recipe (agentrl.yaml), and print the " +
    "commands that follow. At a terminal it asks for what the options do not say.",
  args: [["[folder]", "folder for agentrl.yaml and index/ (default: the current folder)"]],
  options: OPTIONS,
  run: (flags, context, folder = ".") => init(normalize(folder), flags, context),
});

async function init(folder: string, given: InitFlags, context: CliContext): Promise<void> {
  const { initProject, QUESTIONS_FILE, RECIPE_FILE } = await import("../../run/init.ts");
  claimWriting(folder);
  claimOutput(join(folder, RECIPE_FILE), given.overwrite);
  const flags = await completed(given, context);
  const { questions, passages } = flags;
  const policy = await policyOf(flags);
  const fields = fieldsOf(flags);
  if (questions === undefined) claimOutput(join(folder, QUESTIONS_FILE), given.overwrite);
  else
    await noteDatasetFields({ name: "files", tasks: questions, corpus: passages, fields }, context);
  const isAsked = "endpoint" in policy || policy.chat !== undefined;
  const prompt = isAsked ? EXPLAINED_PROMPT : undefined;
  const { analyzer, overwrite } = flags;
  const bar = { label: "indexing", total: 0, unit: "passages" };
  const result = await withProgress(context, bar, (onPassages) =>
    initProject(
      { folder, questions, fields, policy, passages, analyzer, prompt },
      { overwrite: overwrite === true, signal: context.signal, onPassages },
    ),
  );
  const steps = nextSteps({ folder, result, policy, call: context.call });
  if (flags.json === true) {
    const commands = steps.map(({ command }) => command);
    context.out(JSON.stringify({ ...result, commands }));
  } else {
    const lines = [understoodText(flags, result, policy), "", nextText(steps, policy)];
    context.out(lines.join("\n"));
  }
}

type CompleteFlags = InitFlags & { policy: string };

/** The flags, with the user's answers for the missing ones at a terminal. */
async function completed(flags: InitFlags, context: CliContext): Promise<CompleteFlags> {
  const { questions, passages, policy } = flags;
  const hasData = questions !== undefined || passages !== undefined;
  if (hasData && policy !== undefined) return { ...flags, policy };
  if (!process.stdin.isTTY) {
    const missing = hasData ? "--policy is" : "Neither --questions nor --passages is";
    throw usage(
      `${missing} not given. init needs --questions FILE or --passages PATH, and --policy NAME; at a terminal it asks for them. The package's own policies are no choice: they know its small worlds alone.`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ask = async (text: string): Promise<string> =>
    (await terminal.question(`${text}: `, { signal: context.signal })).trim();
  const needed = async (text: string): Promise<string> => {
    for (;;) {
      const answer = await ask(text);
      if (answer !== "") return answer;
    }
  };
  try {
    const answers: InitFlags = {};
    if (!hasData) {
      const file = await ask("File with your questions and answers (Enter: made from passages)");
      if (file === "") answers.passages = await needed("File or folder with your passages");
      else {
        answers.questions = file;
        const own = await ask("File or folder with your passages (Enter: in the questions)");
        if (own !== "") answers.passages = own;
      }
    }
    answers.policy =
      policy ?? (await needed("Who answers (http://…/v1, a model's folder, or org/name)"));
    if (isServer(answers.policy)) answers.model = flags.model ?? (await needed("Model"));
    return { ...flags, ...answers } as CompleteFlags;
  } finally {
    terminal.close();
  }
}

function isServer(policy: string): boolean {
  return /^https?:\/\//.test(policy);
}

/** @throws {ConfigError} USAGE */
async function policyOf(flags: CompleteFlags): Promise<OwnPolicy> {
  const { policy, model, chat, apiKeyEnv } = flags;
  const { policyNames } = await import("../../run/bases.ts");
  if (policyNames().includes(policy))
    throw usage(
      `--policy is ${policy}, a policy of this package, which knows its small worlds alone: it cannot answer your questions. Name a server (http://…/v1), a model's folder, or org/name of the hub.`,
    );
  if (!isServer(policy)) {
    const { hasChatTemplate } = await import("../../chat/load-chat-template.ts");
    const { namedModel } = await import("../../run/named-models.ts");
    const isNamed = namedModel(policy) !== undefined;
    const asksInChat = chat ?? (isNamed || (existsSync(policy) && (await hasChatTemplate(policy))));
    return { from: policy, ...(asksInChat && { chat: {} }) };
  }
  if (model === undefined)
    throw usage(
      `--policy is ${policy}, a server: --model must name one of its models. GET ${policy.replace(/\/$/, "")}/models lists them.`,
    );
  return { endpoint: { baseUrl: policy, model, apiKeyEnv } };
}

/** Most characters of an example. */
const SHOWN = 60;

function understoodText(flags: CompleteFlags, result: InitResult, chosen: OwnPolicy): string {
  const { count, withoutAnswer, heldOut } = result.questions;
  const { policy, model } = flags;
  const questions = flags.questions ?? "made from the passages";
  const counted = [
    plural(count, "question"),
    ...(withoutAnswer === 0 ? [] : [`${formatCount(withoutAnswer)} without an answer`]),
    ...(heldOut === 0
      ? []
      : [`${formatCount(count - heldOut)} to train on, ${formatCount(heldOut)} held out`]),
  ].join(", ");
  const rows = [
    ["questions", questions, counted],
    ...result.examples.map(({ question, answer }) => [
      "",
      shorten(question, SHOWN),
      `→ ${answer ?? "no answer"}`,
    ]),
    ["passages", flags.passages ?? questions, passagesText(result)],
    ["analyzer", result.analyzer.name, analyzerText(result.analyzer)],
    ["policy", policy, model ?? promptText(flags, chosen)],
    ["written", `${result.recipe}, ${result.index}`, ""],
  ];
  return renderText({ rows });
}

function analyzerText({ name, found }: InitResult["analyzer"]): string {
  if (found === null) return "";
  return name === DEFAULT_ANALYZER
    ? `${found}, and no analyzer separates its words: embed the passages (agentrl index build --encoder)`
    : `${found}; --analyzer takes another`;
}

/** @example "2,867 passages: 66 text files, split at about 100 words" */
function passagesText({ passages, texts }: InitResult): string {
  const count = plural(passages, "passage");
  if (texts === null) return count;
  return `${count}: ${plural(texts, "text file")}, split at about ${PASSAGE_WORDS} words`;
}

/** How a model that runs here is asked, and the option that changes it. */
function promptText({ chat }: CompleteFlags, policy: OwnPolicy): string {
  const isChat = "chat" in policy;
  if (chat !== undefined) return isChat ? "asked through its chat template" : "asked in plain text";
  return isChat
    ? "asked through its chat template (--no-chat: plain text)"
    : "asked in plain text (--chat: through its chat template)";
}

interface NextStep {
  command: string;
  /** What it does. */
  why: string;
}

interface Prepared {
  folder: string;
  result: InitResult;
  policy: OwnPolicy;
  /** Starts the program. */
  call: string;
}

/** The commands that follow; each works as printed. */
function nextSteps({ folder, result, policy, call }: Prepared): NextStep[] {
  const recipe = quoted(result.recipe);
  const run = (name: string): string => quoted(join(folder, "runs", name));
  const count = result.questions.heldOut || result.questions.count;
  const [first] = result.examples;
  const question = JSON.stringify(first?.question ?? "").replaceAll(/[$`!]/g, "");
  const measured = `measure it on ${plural(count, "question")}`;
  const steps = [
    { command: `${call} ask --recipe ${recipe} ${question}`, why: "watch it answer one question" },
    { command: `${call} eval --recipe ${recipe} --out ${run("agent")}`, why: measured },
    {
      command: `${call} eval --recipe ${recipe} --strategy rag --out ${run("rag")}`,
      why: "measure a baseline: one search, then the answer",
    },
    {
      command: `${call} eval compare ${run("agent")} ${run("rag")} --across strategy`,
      why: "test whether the difference is more than chance",
    },
    {
      command: `${call} report ${run("agent")} ${run("rag")} --across strategy --out ${quoted(join(folder, "report.html"))}`,
      why: "a page with every answer and search",
    },
  ];
  const smoke = {
    command: `${call} train --recipe ${recipe} --tier smoke --out ${run("smoke")}`,
    why: "see that a training goes through: two steps, a few short messages",
  };
  const plan = {
    command: `${call} recipes plan ${recipe}`,
    why: "memory and time of a training on this machine",
  };
  const train = {
    command: `${call} train --recipe ${recipe} --out ${run("trained")}`,
    why: "train it on the questions that are not held out",
  };
  return "from" in policy ? [...steps, smoke, plan, train] : steps;
}

function nextText(steps: readonly NextStep[], policy: OwnPolicy): string {
  const lines = steps.flatMap(({ command, why }) => [`  # ${why}`, `  ${command}`]);
  const untrainable =
    "from" in policy
      ? []
      : [
          "A server's model cannot be trained from here. To train, run init with --policy FOLDER or org/name, which is read here.",
        ];
  const other = "endpoint" in policy ? "--model NAME" : "--policy NAME";
  const second = `To measure another model, run eval again with ${other} and another --out. eval compare tests the difference.`;
  return ["Next:", ...lines, "", second, ...untrainable].join("\n");
}
