import { exactMatch } from "../../text/answers.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { beside, type Line, type Piece, piece, wrap } from "../../view/styled.ts";
import type { Asked, TraceRecord } from "./trace-records.ts";
import { trajectoryLines, type TrajectoryView } from "./trajectory-lines.ts";

/** Columns from which the two sides of a pair are side by side. */
const TWO_SIDES = 120;

/** A record for the terminal: question and outcome, then message by message. */
export function recordLines(record: TraceRecord, view: TrajectoryView): Line[] {
  switch (record.kind) {
    case "trajectory":
      return oneTrajectory(record.trajectory, record.asked, [], view);
    case "sample": {
      const { candidate, task, dropped } = record;
      const why: Fact[] =
        dropped === undefined
          ? []
          : [["Dropped", [piece(`${dropped.by}: ${dropped.reason}`, "bad")]]];
      return oneTrajectory(candidate.trajectory, task, [...why, ...sampleFacts(candidate)], view);
    }
    case "pair":
      return pairLines(record.pair, view);
  }
}

type Fact = [label: string, value: Piece[]];

function oneTrajectory(
  trajectory: Trajectory,
  asked: Asked | null,
  more: readonly Fact[],
  view: TrajectoryView,
): Line[] {
  const { id, purpose, seed } = trajectory;
  return [
    [piece(id, "bold"), piece(` · ${purpose} · seed ${seed}`, "dim")],
    ...factLines(
      [...askedFacts(trajectory, asked), ...outcomeFacts(trajectory, asked), ...more],
      view,
    ),
    [],
    ...trajectoryLines(trajectory, view),
  ];
}

function askedFacts({ taskId }: Trajectory, asked: Asked | null): Fact[] {
  if (asked === null) return [["Question", [piece(taskId, "dim")]]];
  const { question, references } = asked;
  const label = references.length === 1 ? "Reference" : "References";
  return [
    ["Question", [piece(question, "bold")]],
    [label, [piece(references.join(" · "))]],
  ];
}

function outcomeFacts(trajectory: Trajectory, asked: Asked | null): Fact[] {
  const { answer, confidence, end, rewards, reward, hints = [] } = trajectory;
  const certain = confidence === undefined ? "" : ` (confidence ${shown(confidence)})`;
  const whole = rewards.filter(({ at }) => at === null);
  const addressed = rewards.length - whole.length;
  const parts = [
    ...whole.map(({ name, value }) => `${name} ${shown(value)}`),
    ...(addressed === 0 ? [] : [`${addressed} at their places below`]),
  ];
  return [
    [
      "Answer",
      [
        piece(answer ?? "none", answer === null ? "bad" : "plain"),
        ...verdict(trajectory, asked),
        piece(certain, "dim"),
      ],
    ],
    ["End", [piece(end, end === "answered" ? "plain" : "note")]],
    ...(rewards.length === 0
      ? []
      : [
          [
            "Reward",
            [piece(shown(reward), "bold"), piece(`  ${parts.join(" · ")}`, "dim")],
          ] satisfies Fact,
        ]),
    ...(hints.length === 0
      ? []
      : [
          [
            "Hints",
            [
              piece(
                hints.map(({ name, call }) => `${name} in message ${call + 1}`).join(" · "),
                "note",
              ),
            ],
          ] satisfies Fact,
        ]),
  ];
}

function verdict({ answer }: Trajectory, asked: Asked | null): Piece[] {
  if (asked === null || answer === null) return [];
  return exactMatch(answer, asked.references) === 1
    ? [piece("  ✓ right", "good")]
    : [piece("  ✗ wrong: matches no reference", "bad")];
}

function sampleFacts({ weight, scores, provenance }: Candidate): Fact[] {
  const { teacher, draw, strategy, template, retriever, dataset, settings, steps } = provenance;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  const named = typeof strategy === "string" ? strategy : JSON.stringify(strategy);
  const went = steps.map(({ name, change }) =>
    change === undefined ? name : `${name} (${change})`,
  );
  const told = Object.entries(scores).map(([name, value]) => `${name} ${shown(value)}`);
  const facts: [string, string][] = [
    ["Weight", weight === 1 ? "" : shown(weight)],
    ["Scores", told.join(" · ")],
    ["Teacher", `${who.join(" ")} · draw ${draw.name} ${draw.number} · ${named}`],
    ["Steps", went.join(" → ")],
    [
      "Origin",
      `dataset ${dataset} · template ${template} · retriever ${retriever} · settings ${settings}`,
    ],
  ];
  return facts.flatMap(([label, text]): Fact[] =>
    text === "" ? [] : [[label, [piece(text, label === "Origin" ? "dim" : "plain")]]],
  );
}

function pairLines(pair: PreferencePair, view: TrajectoryView): Line[] {
  const { id, task, chosen, rejected, fromTurn = 0, turns, margin } = pair;
  const compared = fromTurn === 0 ? "" : ` from turn ${fromTurn + 1}`;
  const many = turns === undefined ? "" : `, ${turns} of them`;
  const head = [
    [piece(id, "bold"), piece(` · pair · margin ${shown(margin)}`, "dim")],
    ...factLines(
      [
        ["Question", [piece(task.question, "bold")]],
        ["References", [piece(task.references.join(" · "))]],
        ...(compared === ""
          ? []
          : [
              [
                "Compared",
                [piece(`turns${compared}${many}; earlier turns are the same in both`, "note")],
              ] satisfies Fact,
            ]),
      ],
      view,
    ),
    [],
  ];
  const two = view.columns >= TWO_SIDES;
  const columns = two ? Math.floor((view.columns - 3) / 2) : view.columns;
  const side = (name: string, { id: of, trajectory, ...more }: Candidate): Line[] => {
    const fromCall = trajectory.turns[fromTurn]?.call ?? 0;
    const own = { ...view, columns, fromCall };
    const facts = [
      ...outcomeFacts(trajectory, task),
      ...sampleFacts({ id: of, trajectory, ...more }),
    ];
    return [
      [piece(name, name === "chosen" ? "good" : "bad"), piece(`  ${of}`, "dim")],
      ...factLines(facts, own),
      [],
      ...trajectoryLines(trajectory, own),
    ];
  };
  const [left, right] = [side("chosen", chosen), side("rejected", rejected)];
  return [...head, ...(two ? beside(left, right, columns) : [...left, [], ...right])];
}

const LABEL = 12;

function factLines(facts: readonly Fact[], { columns }: TrajectoryView): Line[] {
  return facts.flatMap(([label, value]) =>
    wrap(value, Math.max(20, columns - LABEL)).map((line, i) => [
      piece((i === 0 ? label : "").padEnd(LABEL), "dim"),
      ...line,
    ]),
  );
}

/** Three decimals at most. */
function shown(value: number | null): string {
  if (value === null) return "not scored";
  return String(Number(value.toFixed(3)));
}
