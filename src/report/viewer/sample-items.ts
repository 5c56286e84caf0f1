import { exactMatch } from "../../text/answers.ts";
import type { Sample } from "../../trajectory/sample.ts";
import { searchCount } from "../../trajectory/search-count.ts";
import type { Decode } from "../../trajectory/segment-text.ts";
import type { LeftSample, SynthesisFiles } from "../synthesis-files.ts";
import type { Verdict, ViewerDetail, ViewerSpec } from "./contract.ts";
import type { ViewerItem } from "./embed.ts";
import { PROTOCOL_TAGS } from "./protocol-tags.ts";
import { trajectoryBlocks } from "./trajectory-detail.ts";

/** How samples are browsed. */
export const SAMPLES_SPEC: ViewerSpec = {
  noun: ["sample", "samples"],
  facets: [
    { key: "status", label: "Status" },
    { key: "draw", label: "Draw" },
    { key: "hints", label: "Hints" },
    { key: "verdict", label: "Verdict" },
    { key: "type", label: "Type" },
    { key: "hops", label: "Hops" },
    { key: "searches", label: "Searches" },
    { key: "weight", label: "Weight" },
  ],
  tags: PROTOCOL_TAGS,
  chunkSize: 250,
};

/** Samples for the viewer, streamed. Gold passages are those that the question's annotations name. */
export async function* sampleItems(
  files: SynthesisFiles,
  decode: Decode | null,
): AsyncGenerator<ViewerItem> {
  for await (const left of files.samples()) {
    const { sample, status, pair } = left;
    const { trajectory, task, provenance, weight } = sample;
    const { type, hops, supportingPassages } = task.annotations;
    const { draw } = provenance;
    const verdict = verdictOf(sample);
    const hints = [...new Set(trajectory.hints?.map(({ name }) => name))].join(", ");
    // A trajectory may stand among the samples and in several pairs.
    const id = pair === undefined ? sample.id : `${sample.id} ${status} ${pair}`;
    yield {
      entry: {
        ...{ id, title: task.question, verdict },
        subtitle: trajectory.error?.code ?? trajectory.answer ?? `no answer (${trajectory.end})`,
        group: JSON.stringify([task.id, task.question]),
        label: [
          ...[`${draw.name} ${draw.number}`, ...(status === "kept" ? [] : [shortStatus(status)])],
        ].join(", "),
        facets: [
          ...[status, draw.name, hints === "" ? null : hints, verdict, type ?? null],
          ...[hops === undefined ? null : String(hops), String(searchCount(trajectory))],
          shown(weight),
        ],
      },
      detail: {
        facts: factsOf(left),
        blocks: trajectoryBlocks(trajectory, { decode, gold: supportingPassages ?? null }),
      },
    };
  }
}

function verdictOf({ trajectory: { error, answer }, task }: Sample): Verdict {
  if (error !== undefined) return "failed";
  return answer !== null && exactMatch(answer, task.references) === 1 ? "right" : "wrong";
}

/** @example shortStatus("dropped by format: no answer") // "dropped" */
function shortStatus(status: string): string {
  return status.startsWith("pair: ") ? status.slice("pair: ".length) : (status.split(" ")[0] ?? "");
}

function factsOf({ sample, status, pair }: LeftSample): ViewerDetail["facts"] {
  const { trajectory, task, provenance, weight, scores } = sample;
  const { answer, end, reward, rewards, hints = [] } = trajectory;
  const { teacher, strategy, steps, seed, template, retriever, dataset } = provenance;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  const parts = rewards
    .filter(({ at }) => at === null)
    .map(({ name, value }) => `${name} ${value === null ? "not scored" : shown(value)}`);
  const facts: [label: string, value: string][] = [
    ["Status", status],
    ["Pair", pair ?? ""],
    ["Answer", answer ?? "none"],
    [task.references.length === 1 ? "Reference" : "References", task.references.join(" · ")],
    ["End", end],
    ["Reward", reward === null ? "" : [shown(reward), ...parts].join(" · ")],
    ["Weight", shown(weight)],
    ["Scores", named(scores)],
    ["Hints", hints.map(({ name, call }) => `${name} in message ${call + 1}`).join(" · ")],
    ["Teacher", who.join(" ")],
    ["Strategy", typeof strategy === "string" ? strategy : JSON.stringify(strategy)],
    [
      "Steps",
      steps
        .map(({ name, change }) => (change === undefined ? name : `${name} (${change})`))
        .join(" → "),
    ],
    ["Seed", String(seed)],
    ["Origin", `${dataset} · template ${template} · retriever ${retriever}`],
  ];
  return facts.flatMap(([label, value]) => (value === "" ? [] : [{ label, value }]));
}

function named(scores: Readonly<Record<string, number>>): string {
  return Object.entries(scores)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(" · ");
}

/** Three decimals at most. */
function shown(value: number): string {
  return String(Number(value.toFixed(3)));
}
