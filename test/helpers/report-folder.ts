import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Segment, Trajectory } from "../../src/trajectory/trajectory.ts";

/** A line of rows.jsonl, as short as it may be. */
export interface MadeRow {
  id: string;
  question: string;
  em: number;
  answer?: string | null;
  sample?: number;
  hops?: number;
  [key: string]: unknown;
}

/** Writes the files of an evaluation made by hand, numbers of which the rows give. */
export function writeResults(
  folder: string,
  rows: readonly MadeRow[],
  more: { results?: Record<string, unknown>; trajectories?: readonly (Trajectory | null)[] } = {},
): string {
  mkdirSync(folder, { recursive: true });
  const right = rows.filter(({ em }) => em === 1).length;
  const share = right / rows.length;
  const results = {
    n: rows.length,
    samplesPerTask: 1,
    errors: { n: 0, byCode: {} },
    metrics: { em: share, f1: share, cover_em: share, searches: 1, answer_rate: 1 },
    intervals: { em: [0.1, 0.9], f1: [0.1, 0.9], cover_em: [0.1, 0.9] },
    intervalMethods: { em: "wilson", f1: "bootstrap", cover_em: "wilson" },
    groups: { hops: {}, type: {} },
    ends: { answered: rows.length },
    fingerprint: "aaaaaaaaaaaa",
    protocol: { dataset: "made-1", topK: { a: 3 }, prompt: "{question}" },
    policy: { from: "made/policy" },
    readsGold: false,
    dataset: "made",
    strategy: "agent",
    seed: 1,
    recipe: { name: "search-r1", tier: "mini" },
    ...more.results,
  };
  const lines = rows.map((row) => ({
    sample: 0,
    references: ["Paris"],
    answer: "Paris",
    f1: row.em,
    cover_em: row.em,
    searches: 1,
    turns: 2,
    end: "answered",
    formatOk: true,
    tokens: 9,
    ...row,
  }));
  writeFileSync(join(folder, "results.json"), JSON.stringify(results));
  writeFileSync(join(folder, "rows.jsonl"), jsonl(lines));
  const trajectories = more.trajectories ?? rows.map((row) => searchTrajectory(row));
  writeFileSync(
    join(folder, "trajectories.jsonl"),
    jsonl(trajectories.filter((each) => each !== null)),
  );
  return folder;
}

function jsonl(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** A remote policy that searches once and answers: text on segments, two passages "p1" and "p2". */
export function searchTrajectory(
  { id, question, answer = "Paris", sample = 0 }: MadeRow,
  thought = "I look it up",
): Trajectory {
  const shown =
    "Doc 1(Title: France) Its capital is Paris.\nDoc 2(Title: Italy) Its capital is Rome.\n";
  const asked = `<think>${thought}</think><search>capital</search>`;
  const said = `<answer>${answer ?? ""}</answer>`;
  const call = { role: "policy", policyVersion: null, finish: "stop" as const };
  return {
    id: `${id}/${sample}`,
    taskId: id,
    groupId: id,
    purpose: "eval",
    seed: 1,
    calls: [
      {
        ...call,
        parent: null,
        prompt: [text("template", `Question: ${question}\n`)],
        completion: [text("policy", asked)],
      },
      {
        ...call,
        parent: 0,
        prompt: [text("environment", `\n\n<information>${shown}</information>\n\n`)],
        completion: [text("inserted", "<think>"), text("policy", `done</think>${said}`)],
      },
    ],
    turns: [
      {
        call: 0,
        text: asked,
        problems: [],
        actions: [{ tool: "search", input: "capital" }],
        observations: [{ tool: "search", text: shown, passageIds: ["p1", "p2"] }],
      },
      {
        call: 1,
        text: said,
        actions: [{ tool: "answer", input: answer ?? "" }],
        problems: [],
        observations: [],
      },
    ],
    answer,
    end: "answered",
    rewards: [],
    reward: null,
  };
}

function text(owner: Segment["owner"], said: string): Segment {
  return { owner, ids: [], logprobs: null, text: said };
}
