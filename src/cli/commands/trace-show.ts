import { rounded } from "../../base/format.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import { beside, type Line, painted, piece } from "../../view/styled.ts";
import { sampleFacts } from "../../view/trajectory-facts.ts";
import { trajectoryLines, type TrajectoryView } from "../../view/trajectory-lines.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { type Flags, jsonFlag, options, wholeNumber } from "../options.ts";
import { factLines, outcomeFacts } from "../trace/outcome-lines.ts";
import { screenOf } from "../trace/screen.ts";
import { findOrigin } from "../trace/trace-origin.ts";
import { findRecord, type TraceRecord } from "../trace/trace-records.ts";
import { findWords, openTraceTexts } from "../trace/trace-texts.ts";
import { usage } from "../usage.ts";

/** Lines shown of a prompt or an observation without --full. */
const SHORT = 12;

type ShowFlags = Flags<typeof OPTIONS>;

const OPTIONS = options({
  id: ["<id>", "id of the trajectory, sample or pair"],
  index: ["<n>", "its line in the file, counted from 0 (default: 0)", wholeNumber(0)],
  model: [
    "<folder>",
    "folder with the tokenizer.json that decodes ids (default: the policy that the run's files name)",
  ],
  full: ["", "show whole prompts and observations"],
  plain: ["", "print without colours, as in a pipe"],
  json: jsonFlag("the record as it is in the file, as one JSON document on stdout"),
});

/** Adds `show` to `agentrl trace`. */
export const traceShow = defineCommand({
  name: "show",
  summary: "one trajectory, coloured by who wrote what",
  description:
    "Show one trajectory message by message: what the policy wrote, what its tools found (dim), what a template holds (dim, " +
    "slanted), what was inserted (marked), with question, answer, rewards and, of samples, how they came about. Of a pair both " +
    "sides, beside each other where the terminal is wide. In a pipe, and under NO_COLOR, there are no colours and the owner " +
    "stands before every line.",
  args: [["<file>", "JSON lines of trajectories, samples, draws or pairs; .gz is unpacked"]],
  options: OPTIONS,
  run: (flags, context, file) => show(file, flags, context),
});

async function show(
  file: string,
  { id, index = 0, model, full, plain, json }: ShowFlags,
  context: CliContext,
): Promise<void> {
  if (id !== undefined && index !== 0)
    throw usage("--id and --index both choose. Name one of them.");
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

/** Columns from which the two sides of a pair are side by side. */
const TWO_SIDES = 120;

/** A record for the terminal: question and outcome, then message by message. */
function recordLines(record: TraceRecord, view: TrajectoryView): Line[] {
  if (record.kind === "pair") return pairLines(record.pair, view);
  const isSample = record.kind === "sample";
  const trajectory = isSample ? record.candidate.trajectory : record.trajectory;
  const asked = isSample ? record.task : record.asked;
  const { dropped } = isSample ? record : {};
  const { id, purpose, seed, taskId } = trajectory;
  return [
    [piece(id, "bold"), piece(` · ${purpose} · seed ${seed}`, "dim")],
    ...factLines(
      [
        ["Question", asked?.question ?? taskId],
        ...outcomeFacts(trajectory, asked),
        ["Dropped", dropped === undefined ? null : `${dropped.by}: ${dropped.reason}`],
        ...(isSample ? sampleFacts(record.candidate) : []),
      ],
      view,
    ),
    [],
    ...trajectoryLines(trajectory, view),
  ];
}

function pairLines(pair: PreferencePair, view: TrajectoryView): Line[] {
  const { id, task, chosen, rejected, fromTurn = 0, turns, margin } = pair;
  const many = turns === undefined ? "" : `, ${turns} of them`;
  const compared = `turns from turn ${fromTurn + 1}${many}; earlier turns are the same in both`;
  const head = [
    [piece(id, "bold"), piece(` · pair · margin ${rounded(margin)}`, "dim")],
    ...factLines(
      [
        ["Question", task.question],
        ["References", task.references.join(" · ")],
        ["Compared", fromTurn === 0 ? null : compared],
      ],
      view,
    ),
    [],
  ];
  const two = view.columns >= TWO_SIDES;
  const columns = two ? Math.floor((view.columns - 3) / 2) : view.columns;
  const side = (name: string, candidate: Candidate): Line[] => {
    const { trajectory } = candidate;
    const own = { ...view, columns, fromCall: trajectory.turns[fromTurn]?.call ?? 0 };
    return [
      [piece(name, name === "chosen" ? "good" : "bad"), piece(`  ${candidate.id}`, "dim")],
      ...factLines([...outcomeFacts(trajectory, task), ...sampleFacts(candidate)], own),
      [],
      ...trajectoryLines(trajectory, own),
    ];
  };
  const [left, right] = [side("chosen", chosen), side("rejected", rejected)];
  return [...head, ...(two ? beside(left, right, columns) : [...left, [], ...right])];
}
