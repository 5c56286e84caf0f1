import { describe, expect, it } from "vitest";
import { displayWidth } from "../../../src/base/table.ts";
import { frameOf } from "../../../src/cli/dashboard/Dashboard.tsx";
import type { FrameProps } from "../../../src/cli/dashboard/frame.ts";
import type { RunView } from "../../../src/cli/dashboard/run-view.ts";
import { segmentText } from "../../../src/trajectory/trajectory.ts";
import { BEGUN, madeStep } from "../../helpers/dashboard-run.ts";

const steps = Array.from({ length: 12 }, (_, i) => madeStep(i + 1));
const TRAINING: RunView = {
  ...BEGUN,
  work: { kind: "training" },
  step: 12,
  totalSteps: 40,
  elapsedMs: 100_000,
  stepMs: 8100,
  leftMs: 236_000,
  history: steps,
  batch: { step: 12, size: 64, trajectories: madeStep(12).trajectories },
  evaluations: [
    { name: "before", em: 0.12, n: 100 },
    { name: "step-5", em: 0.31, n: 100 },
    { name: "step-10", em: 0.29, n: 100 },
  ],
  events: [
    { kind: "resumed", step: 3, message: "from checkpoints/step-3", facts: {} },
    {
      kind: "alarm",
      step: 11,
      message: "rollout/entropy is .02, under .05 for 3 steps",
      facts: { metric: "rollout/entropy" },
    },
  ],
};

function frame(columns: number, rows: number, changes: Partial<FrameProps> = {}): string {
  return frameOf({
    view: TRAINING,
    terminal: { columns, rows },
    colours: false,
    keys: true,
    help: false,
    rollout: 0,
    ended: false,
    textOf: (segment) => segmentText(segment, null),
    ...changes,
  });
}

describe("a frame of the live view", () => {
  it("shows a run on 80 by 24", () => {
    expect(frame(80, 24)).toMatchInlineSnapshot(`
      "search-r1 · mini · seed 1 · cpu                                      1 min 40 s
      runs/search-r1-mini-seed1
      step 12/40 ██████░░░░░░░░░░░░░ 30 % · 3 min 56 s left · 8.1 s a step · sampling
      held-out EM before 0.120 → … → step-10 0.290  +0.170  best 0.310 (step-5)
                      now   change                           now  change  steps 1–12
      reward        0.220   +0.070  ▁▂▃▄▅▆▇█   length       20.0    ±0.0  ▅▅▅▅▅▅▅▅▅▅▅
      EM            0.220   +0.070  ▃▃▄▄▅▅▆▆   searches     1.00   ±0.00  ▅▅▅▅▅▅▅▅▅▅▅
      entropy       0.500   ±0.000  ▅▅▅▅▅▅▅▅   duplicates   0.25   ±0.00  ▅▅▅▅▅▅▅▅▅▅▅
      KL           0.0010  ±0.0000  ▅▅▅▅▅▅▅▅   flat groups  0.50   ±0.00  ▅▅▅▅▅▅▅▅▅▅▅
      mismatch KL  1.0e−9       ±0  ▅▅▅▅▅▅▅▅   answered     1.00   ±0.00  ███████████
      step 3 resumed from checkpoints/step-3
      step 11 alarm rollout/entropy is .02, under .05 for 3 steps
      ── rollout 12-a/0 · answered “Paris” · 1 search · reward 1 ────────────────────
      ── Message 1 ──────────────────────────────────────────────────────────────────
      template     | Question: What is the capital?
      policy       | <think>I look it up</think><search>capital</search>
      ── Message 2 ──────────────────────────────────────────────────────────────────
      environment  | <information>Doc 1(Title: France) Its capital is Paris.
      environment  | Doc 2(Title: Italy) Its capital is Rome.
      environment  | </information>
      inserted     | <think>
      policy       | done</think><answer>Paris</answer>
      p pause  s save  e eval  q stop  t next  ? help  Ctrl-C end"
    `);
  });

  it("shows fewer parts on 60 by 20", () => {
    expect(frame(60, 20)).toMatchInlineSnapshot(`
      "search-r1 · mini · seed 1 · cpu                  1 min 40 s
      runs/search-r1-mini-seed1
      step 12/40 ████░░░░░░░░░░ 30 % · 3 min 56 s left · 8.1 s a…
      held-out EM before 0.120 → … → step-10 0.290
      reward        0.220   +0.070  ▁▂▂▃▄▄▅▅▆▇▇█
      EM            0.220   +0.070  ▃▃▃▄▄▄▅▅▅▆▆▆
      entropy       0.500   ±0.000  ▅▅▅▅▅▅▅▅▅▅▅▅
      KL           0.0010  ±0.0000  ▅▅▅▅▅▅▅▅▅▅▅▅
      mismatch KL  1.0e−9       ±0  ▅▅▅▅▅▅▅▅▅▅▅▅
      length         20.0     ±0.0  ▅▅▅▅▅▅▅▅▅▅▅▅
      searches       1.00    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      duplicates     0.25    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      flat groups    0.50    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      answered       1.00    ±0.00  ████████████
      step 11 alarm rollout/entropy is .02, under .05 for 3 steps
      p pause  s save  e eval  q stop  t next  ? help  Ctrl-C end"
    `);
  });

  it("shows everything on 120 by 40", () => {
    expect(frame(120, 40)).toMatchInlineSnapshot(`
      "search-r1 · mini · seed 1 · cpu                                                                              1 min 40 s
      runs/search-r1-mini-seed1
      step 12/40 █████████░░░░░░░░░░░░░░░░░░░░ 30 % · 3 min 56 s left · 8.1 s a step · sampling

      █▀█   ▀▀█ █▀█ █▀█   held-out EM on 100 questions, step-10
      █ █   ▄▄█ ▀▀█ █ █    before 0.120 → step-5 0.310 → step-10 0.290
      █▄█ ▄ █▄▄ ▄▄█ █▄█     +0.170 since before  best 0.310 (step-5)

                      now   change  steps 1–12 · change: last 5 less first 5
      reward        0.220   +0.070  ▁▂▂▃▄▄▅▅▆▇▇█
      EM            0.220   +0.070  ▃▃▃▄▄▄▅▅▅▆▆▆
      entropy       0.500   ±0.000  ▅▅▅▅▅▅▅▅▅▅▅▅
      KL           0.0010  ±0.0000  ▅▅▅▅▅▅▅▅▅▅▅▅
      mismatch KL  1.0e−9       ±0  ▅▅▅▅▅▅▅▅▅▅▅▅
      length         20.0     ±0.0  ▅▅▅▅▅▅▅▅▅▅▅▅
      searches       1.00    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      duplicates     0.25    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      flat groups    0.50    ±0.00  ▅▅▅▅▅▅▅▅▅▅▅▅
      answered       1.00    ±0.00  ████████████
      step 3 resumed from checkpoints/step-3
      step 11 alarm rollout/entropy is .02, under .05 for 3 steps

      ── rollout 12-a/0 of step 12's 64 · answered “Paris” · 1 search · reward 1 ────────────────────────────────────────────
      ── Message 1 ──────────────────────────────────────────────────────────────────────────────────────────────────────────
      template     | Question: What is the capital?
      policy       | <think>I look it up</think><search>capital</search>

      ── Message 2 ──────────────────────────────────────────────────────────────────────────────────────────────────────────
      environment  | <information>Doc 1(Title: France) Its capital is Paris.
      environment  | Doc 2(Title: Italy) Its capital is Rome.
      environment  | </information>
      inserted     | <think>
      policy       | done</think><answer>Paris</answer>

      p pause  s save  e evaluate  q stop after this step  t next rollout  ? help  Ctrl-C interrupt"
    `);
  });

  it("fits every terminal, wide texts and long lists included", () => {
    const events = Array.from({ length: 50 }, (_, i): RunView["events"][number] => {
      return { kind: "waiting", step: i, message: "検索 ".repeat(60), facts: {} };
    });
    const view: RunView = {
      ...TRAINING,
      events,
      paused: true,
      facts: { ...BEGUN.facts, out: "/a/long/folder".repeat(20), recipe: "r".repeat(90) },
    };
    for (const [columns, rows] of [
      [60, 15],
      [61, 19],
      [79, 24],
      [160, 30],
      [240, 70],
      [30, 6],
    ] as const) {
      for (const help of [false, true]) {
        const lines = frame(columns, rows, { view, help }).split("\n");
        expect(lines.length, `${columns}×${rows}`).toBeLessThan(rows);
        // The column that stays free is for a wide character that does not fit the last one.
        const widest = Math.max(...lines.map(displayWidth));
        expect(widest, `${columns}×${rows}`).toBeLessThanOrEqual(columns);
      }
    }
  });

  it("says what is being done before there is a step", () => {
    const evaluating = {
      kind: "evaluating",
      name: "before",
      done: 30,
      total: 120,
      em: 0.2,
    } as const;
    const lines = [
      BEGUN,
      { ...BEGUN, work: evaluating },
      { ...BEGUN, work: { kind: "training" as const } },
      { ...BEGUN, work: { kind: "stage" as const, done: 3, total: 12, note: "loss 1.250" } },
      { ...BEGUN, work: { kind: "stage" as const, done: 70, total: null, note: "280 rollouts" } },
    ].map((view) => frame(80, 24, { view }).split("\n")[2]);
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "starting
      evaluating before █████░░░░░░░░░░░░░░ 30/120 answers · EM 0.200
      step 1 · sampling
      stage █████░░░░░░░░░░░░░░ 3/12 steps · loss 1.250
      stage 70 questions · 280 rollouts"
    `);
  });

  it("says what was asked for until it is done", () => {
    const asked = { pause: true, save: true, evaluate: true, stop: true };
    expect(frame(80, 24, { view: { ...TRAINING, asked } })).toContain(
      "after this step: save a checkpoint, evaluate, pause, stop",
    );
    expect(frame(80, 24, { view: { ...TRAINING, asked, paused: true } })).toContain(
      "paused after step 12: p goes on",
    );
  });

  it("names a stage, and says so where there is no keyboard", () => {
    const stage = { number: 2, total: 3, name: "reinforce", kind: "train" };
    const text = frame(100, 24, { view: { ...TRAINING, stage }, keys: false });
    expect(text).toContain("stage 2/3: reinforce (train)");
    expect(text).toContain("no keys: stdin is not a terminal · Ctrl-C interrupts");
  });

  it("explains keys and metrics on demand", () => {
    const text = frame(100, 30, { help: true });
    expect(text).toContain(
      "q       end with a checkpoint after the current step; --resume continues",
    );
    expect(text).toContain("flat groups  share of questions whose rollouts all earn the same");
  });

  it("explains only the metrics that the run has, each apart from its name", () => {
    const metrics = { "validation/loss": 1.25, "rollout/reward_mean": 0.5 };
    const view = { ...TRAINING, history: [{ step: 1, metrics }] };
    const text = frame(100, 40, { view, help: true });
    expect(text).toContain("held-out loss  of held-out samples, nats");
    expect(text).not.toContain("tokens/s");
    expect(text).not.toContain("margin");
  });

  it("says what a change is a change of", () => {
    const text = frame(120, 40);
    expect(text).toMatch(/^ +now +change {2}steps 1–12 · change: last 5 less first 5$/m);
    const view = { ...TRAINING, history: steps.slice(0, 4) };
    expect(frame(120, 40, { view })).toContain("steps 1–4 · change: last 2 less first 2");
    expect(text).toContain("+0.170 since before");
  });

  it("fills a tall terminal with the last evaluation in large letters, tall curves and further rollouts", () => {
    const text = frame(120, 60);
    expect(text).toMatch(/^█▀█ {3}▀▀█ █▀█ █▀█ {3}held-out EM on 100 questions, step-10$/m);
    // The curve of the reward stands on three rows, its figures at the foot.
    expect(text).toMatch(/^ +▂▄▆█\n +▁▃▆█████\nreward +0\.220 +\+0\.070 {2}▁/m);
    expect(text.match(/── rollout 12-[ab]/g)).toEqual(["── rollout 12-a", "── rollout 12-b"]);
  });

  it("shows exact match under the name that the recipe gives it", () => {
    const history = [{ step: 1, metrics: { "reward/em": 0.25 } }];
    const view = { ...TRAINING, history, facts: { ...BEGUN.facts, emMetric: "reward/em" } };
    expect(frame(80, 24, { view })).toMatch(/^EM +0\.250/m);
  });

  it("ends without keys and rollout", () => {
    const text = frame(80, 24, { ended: true });
    expect(text).not.toContain("rollout 12");
    expect(text).not.toContain("p pause");
    expect(text).toContain("held-out EM before 0.120");
  });

  it("marks an alarm's metric, what rose and what was inserted in their colours, and none without", () => {
    const coloured = frame(120, 40, { colours: true });
    // Bold and red; bold and green; black on yellow.
    expect(coloured).toContain("\u001b[1m\u001b[31mentropy");
    expect(coloured).toContain("\u001b[32m");
    expect(coloured).toContain("\u001b[43m");
    expect(frame(120, 40)).not.toContain("\u001b[");
  });
});
