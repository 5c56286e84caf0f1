import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PreferencePair, Sample } from "../../src/trajectory/sample.ts";
import { searchTrajectory } from "./report-folder.ts";

/** A sample made by hand: a server's search and answer; of draw "hinted" a hint stands in its answer. */
function madeSample(number: number, draw: "plain" | "hinted", text = ""): Sample {
  const [id, question] = [`q${number}`, `Where is ${number}?${text}`];
  const played = searchTrajectory({ id, question, em: 1 }, `thought${number}${text}`);
  const hint = "<think>";
  return {
    id: `${id}/${draw}-0`,
    task: {
      id,
      question,
      references: ["Paris"],
      source: "made",
      annotations: { hops: 1 + (number % 2), type: "bridge", supportingPassages: ["p1"] },
    },
    trajectory: {
      ...played,
      id: `${id}/${draw}-0`,
      purpose: "train",
      ...(draw === "hinted" ? { hints: [{ name: "first-thought", call: 1, text: hint }] } : {}),
      rewards: [{ name: "exact-match", value: 1, at: null }],
      reward: 1,
    },
    weight: number === 1 ? 0.5 : 1,
    scores: { "pass-rate": 0.25 },
    provenance: {
      agentrl: "0.0.0",
      settings: "s",
      teacher: { name: "model", from: "made/teacher" },
      draw: { name: draw, number: 0 },
      strategy: "agent",
      template: "t",
      retriever: "r",
      dataset: "d",
      seed: 5,
      steps: [{ name: "format" }, { name: "weights", change: "0.5" }],
    },
  };
}

/** Writes the folder of a synthesis made by hand: two samples kept, one for validation, one dropped, and a pair. */
export function writeSynthesis(folder: string, text = ""): string {
  mkdirSync(folder, { recursive: true });
  const [first, second, third, fourth] = [
    madeSample(1, "plain", text),
    madeSample(2, "hinted"),
    madeSample(3, "plain"),
    madeSample(4, "hinted"),
  ];
  const { task: _, ...rejected } = madeSample(1, "hinted", text);
  const { task, ...chosen } = first;
  const pair: PreferencePair = { id: "q1/pair-0", task, chosen, rejected, margin: 0.5 };
  const draws = [first, second, third, fourth].map(({ task: asked, ...candidate }) => ({
    settings: "s",
    task: asked,
    candidates: [candidate],
  }));
  const files: Record<string, readonly unknown[]> = {
    "samples.jsonl": [first, second],
    "validation.jsonl": [third],
    "dropped.jsonl": [{ dropped: { by: "format", reason: `unpaired tag${text}` }, ...fourth }],
    "pairs.jsonl": [pair],
    "draws.jsonl": draws,
  };
  for (const [name, rows] of Object.entries(files))
    writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const draw = { rollouts: 2, failed: 0, toolRate: 1, searches: 1, answerRate: 1, reward: 1 };
  const step = { mended: 0, pairs: 0 };
  writeFileSync(
    join(folder, "synth.json"),
    JSON.stringify({
      agentrl: "0.0.0",
      recipe: "made",
      tier: "mini",
      seed: 7,
      readsGold: false,
      questions: 4,
      teacher: { name: "model", from: "made/teacher" },
      dataset: "made",
      hashes: {},
      draws: [
        { name: "plain", ...draw, hints: {} },
        { name: `hinted${text}`, ...draw, hints: { "first-thought": 2 } },
      ],
      yields: [
        { name: "drawn", kind: "draw", in: 4, out: 4, dropped: {}, questions: 4, ...step },
        {
          name: "format",
          kind: "gate",
          in: 4,
          out: 3,
          dropped: { [`unpaired tag${text}`]: 1 },
          questions: 3,
          ...step,
        },
      ],
      failures: { HTTP_TIMEOUT: 1 },
    }),
  );
  return folder;
}
