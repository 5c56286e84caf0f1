import type { Command } from "commander";
import { ConfigError } from "../../base/errors.ts";
import type { CliContext } from "../command.ts";
import { jsonOption, wholeNumber } from "../options.ts";
import { recordLines } from "../trace/record-lines.ts";
import { screenOf } from "../trace/screen.ts";
import { painted } from "../../view/styled.ts";
import { findOrigin } from "../trace/trace-origin.ts";
import { findRecord } from "../trace/trace-records.ts";
import { findWords, openTraceTexts } from "../trace/trace-texts.ts";

interface ShowFlags {
  id?: string;
  index?: number;
  model?: string;
  full?: true;
  plain?: true;
  json?: true;
}

/** Lines shown of a prompt or an observation without --full. */
const SHORT = 12;

/** Adds `show` to `agentrl trace`. */
export function addTraceShow(parent: Command, context: CliContext): void {
  parent
    .command("show")
    .summary("one trajectory, coloured by who wrote what")
    .description(
      "Show one trajectory message by message: what the policy wrote, what its tools found (dim), what a template holds (dim, " +
        "slanted), what was inserted (marked), with question, answer, rewards and, of samples, how they came about. Of a pair both " +
        "sides, beside each other where the terminal is wide. In a pipe, and under NO_COLOR, there are no colours and the owner " +
        "stands before every line.",
    )
    .argument("<file>", "JSON lines of trajectories, samples, draws or pairs; .gz is unpacked")
    .option("--id <id>", "id of the trajectory, sample or pair")
    .option("--index <n>", "its line in the file, counted from 0 (default: 0)", wholeNumber(0))
    .option(
      "--model <folder>",
      "folder with the tokenizer.json that decodes ids (default: the policy that the run's files name)",
    )
    .option("--full", "show whole prompts and observations")
    .option("--plain", "print without colours, as in a pipe")
    .addOption(jsonOption("the record as it is in the file, as one JSON document on stdout"))
    .action((file: string, flags: ShowFlags) => show(file, flags, context));
}

async function show(
  file: string,
  { id, index = 0, model, full, plain, json }: ShowFlags,
  context: CliContext,
): Promise<void> {
  if (id !== undefined && index !== 0)
    throw new ConfigError("USAGE", "--id and --index both choose. Name one of them.");
  const record = await findRecord(file, id === undefined ? { index } : { id });
  if (json === true) {
    context.out(JSON.stringify(record));
    return;
  }
  const { textOf } = await openTraceTexts(await findOrigin(file), await findWords(model, true));
  const { columns, colours } = screenOf(process.stdout, process.env, plain);
  const shortenTo = full === true ? Infinity : SHORT;
  const lines = recordLines(record, { columns, plain: !colours, shortenTo, textOf });
  context.out(painted(lines, colours));
}
