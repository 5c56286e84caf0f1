import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tfRecord } from "../../src/watch/reporters/tensorboard/events.ts";
import * as events from "../../src/watch/reporters/tensorboard/events.ts";

// tensorboard.json is made by reporters/record.py with TensorBoard's own messages and record writer.
const { records } = JSON.parse(
  readFileSync(new URL("reporters/tensorboard.json", import.meta.url), "utf8"),
) as { records: Record<string, string> };

const ours: Record<string, Buffer> = {
  version: events.versionEvent({ at: 1_700_000_000_250, step: 0 }),
  start: events.startEvent({ at: 1_700_000_001_500, step: 301 }),
  scalars: events.scalarsEvent(
    { at: 1_700_000_002_750, step: 300 },
    { "rollout/reward_mean": 0.1, "losses/kl": Infinity, zero: 0 },
  ),
  text: events.textEvent({ at: 1500, step: 0 }, "settings", "| a |\nü"),
  settings: events.settingsEvent({ at: 1_700_000_000_250, step: 5_000_000_000 }, "run-1", {
    "algorithm.name": "grpo",
  }),
  end: events.endEvent({ at: 1_700_000_009_500, step: 12 }, true),
};

describe("records of TensorBoard's event files", () => {
  it("are all compared", () => {
    expect(Object.keys(ours)).toEqual(Object.keys(records));
  });

  it.each(Object.keys(records))("equals TensorBoard's own bytes: %s", (name) => {
    const [event = Buffer.alloc(0)] = [ours[name]];
    expect(tfRecord(event).toString("hex")).toBe(records[name]);
  });
});
