import { rounded } from "../../base/format.ts";
import { type Decode, searchCount, textsBy } from "../../trajectory/trajectory.ts";
import type { SynthesisFiles } from "../synthesis-files.ts";
import { trajectoryBlocks } from "../trajectory-blocks.ts";
import {
  sampleFacts,
  shownFacts,
  subtitleOf,
  trajectoryFacts,
  verdictOf,
} from "../trajectory-facts.ts";
import type { ItemSpec, ViewerItem } from "./embed.ts";

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
  for await (const { sample, status, pair } of files.samples()) {
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
        facts: shownFacts([
          ["Status", status],
          ["Pair", pair ?? null],
          ...trajectoryFacts(trajectory, task.references),
          ...sampleFacts(sample),
        ]),
        blocks: trajectoryBlocks(trajectory, {
          textOf: textsBy(decode),
          gold: supportingPassages ?? null,
        }),
      },
    };
  }
}

/** @example shortStatus("dropped by format: no answer") // "dropped" */
function shortStatus(status: string): string {
  return status.startsWith("pair: ") ? status.slice("pair: ".length) : (status.split(" ")[0] ?? "");
}
