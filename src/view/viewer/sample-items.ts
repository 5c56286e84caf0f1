import { leavesOf } from "../../base/leaves.ts";
import { rounded } from "../../base/format.ts";
import { searchCount } from "../../trajectory/search-count.ts";
import type { Decode } from "../../trajectory/segment-text.ts";
import type { LeftSample, SynthesisFiles } from "../synthesis-files.ts";
import type { ViewerDetail } from "./contract.ts";
import type { ItemSpec, ViewerItem } from "./embed.ts";
import { factsOf, referencesFact, rewardText, subtitleOf, verdictOf } from "./item-facts.ts";
import { trajectoryBlocks } from "./trajectory-detail.ts";

/** Viewer settings for samples. */
export const SAMPLES_SPEC: ItemSpec = {
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
  chunkSize: 250,
};

/** Samples for the viewer, streamed. Gold passages come from the question's annotations. */
export async function* sampleItems(
  files: SynthesisFiles,
  decode: Decode | null,
): AsyncGenerator<ViewerItem> {
  for await (const left of files.samples()) {
    const { sample, status, pair } = left;
    const { trajectory, task, provenance, weight } = sample;
    const { type, hops, supportingPassages } = task.annotations;
    const { draw } = provenance;
    const verdict = verdictOf(trajectory, task.references);
    const hints = [...new Set(trajectory.hints?.map(({ name }) => name))].join(", ");
    // A trajectory may stand among the samples and in several pairs.
    const id = pair === undefined ? sample.id : `${sample.id} ${status} ${pair}`;
    yield {
      entry: {
        id,
        title: task.question,
        verdict,
        subtitle: subtitleOf(trajectory),
        group: JSON.stringify([task.id, task.question]),
        label: [
          ...[`${draw.name} ${draw.number}`, ...(status === "kept" ? [] : [shortStatus(status)])],
        ].join(", "),
        facets: [
          ...[status, draw.name, hints === "" ? null : hints, verdict, type ?? null],
          ...[hops === undefined ? null : String(hops), String(searchCount(trajectory))],
          rounded(weight),
        ],
      },
      detail: {
        facts: sampleFacts(left),
        blocks: trajectoryBlocks(trajectory, { decode, gold: supportingPassages ?? null }),
      },
    };
  }
}

/** @example shortStatus("dropped by format: no answer") // "dropped" */
function shortStatus(status: string): string {
  return status.startsWith("pair: ") ? status.slice("pair: ".length) : (status.split(" ")[0] ?? "");
}

function sampleFacts({ sample, status, pair }: LeftSample): ViewerDetail["facts"] {
  const { trajectory, task, provenance, weight, scores } = sample;
  const { answer, end, reward, hints = [] } = trajectory;
  const { teacher, strategy, steps, seed, template, retriever, dataset } = provenance;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  return factsOf([
    ["Status", status],
    ["Pair", pair ?? null],
    ["Answer", answer ?? "none"],
    referencesFact(task.references),
    ["End", end],
    ["Reward", reward === null ? null : rewardText(trajectory)],
    ["Weight", rounded(weight)],
    ["Scores", named(scores)],
    ["Hints", hints.map(({ name, call }) => `${name} in message ${call + 1}`).join(" · ")],
    ["Teacher", who.join(" ")],
    ["Strategy", strategyText(strategy)],
    [
      "Steps",
      steps
        .map(({ name, change }) => (change === undefined ? name : `${name} (${change})`))
        .join(" → "),
    ],
    ["Seed", String(seed)],
    ["Origin", `${dataset} · template ${template} · retriever ${retriever}`],
  ]);
}

/** @example strategyText({ name: "agent", turns: 2 }) // "agent, turns 2" */
function strategyText(strategy: unknown): string {
  if (typeof strategy === "string") return strategy;
  return [...leavesOf(strategy)]
    .map(([keys, value]) => {
      const key = keys.join(".");
      return key === "name" ? String(value) : `${key} ${String(value)}`;
    })
    .join(", ");
}

function named(scores: Readonly<Record<string, number>>): string {
  return Object.entries(scores)
    .map(([name, value]) => `${name} ${rounded(value)}`)
    .join(" · ");
}
