import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { alarmsSchema } from "../../../src/watch/alarms/alarm-settings.ts";
import { alarms } from "../../../src/watch/alarms/index.ts";
import { openAlarms } from "../../../src/watch/alarms/open-alarms.ts";
import type { MetricsLine } from "../../../src/watch/metrics-line.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { metricLines, times } from "../../helpers/metric-lines.ts";

const named = (value: unknown): ReturnType<typeof alarmsSchema.parse> =>
  parseOptions(alarmsSchema, value, "recipe: alarms");

/** Which alarms rang at which steps. */
const rings = (watch: ReturnType<typeof openAlarms>, lines: readonly MetricsLine[]): string[] =>
  lines.flatMap((line) => watch.after(line).map(({ alarm, step }) => `${step} ${alarm}`));

/** Truncated from step 3 on, as it was up to 9, and again from 15 on. */
const twice = metricLines({
  "rollout/truncated_share": [0, 0, ...times(6, 1), ...times(6, 0), ...times(6, 1)],
});
const truncation = named([{ name: "truncation", smooth: 1, action: "stop" }]);

describe("openAlarms", () => {
  it("rings once while a rule is broken, and again after it was quiet", () => {
    expect(rings(openAlarms(truncation), twice)).toEqual(["3 truncation", "15 truncation"]);
  });

  it("rings once for a value that wavers at its limit", () => {
    const wavering = metricLines({ "rollout/truncated_share": [0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1] });
    expect(rings(openAlarms(truncation), wavering)).toEqual(["2 truncation"]);
  });

  it("rings the same after a resume, wherever the run was cut", () => {
    // Every metric runs through good and bad values.
    const wave = (period: number): number[] =>
      Array.from({ length: 260 }, (_, i) => 1.5 + 1.5 * Math.cos((2 * Math.PI * i) / period));
    const metrics = alarms.parts.flatMap((alarm) => alarm.metrics).filter((name) => /^[a-z]+\/[a-z_]+$/.test(name)); // prettier-ignore
    const lines = metricLines(
      Object.fromEntries([...new Set(metrics)].map((name, i) => [name, wave(30 + 17 * i)])),
    );
    const whole = rings(openAlarms(named(undefined)), lines);
    expect(new Set(whole.map((ring) => ring.split(" ")[1])).size).toBeGreaterThan(7);
    for (let cut = 0; cut <= lines.length; cut += 13) {
      const resumed = openAlarms(named(undefined), lines.slice(0, cut));
      const later = whole.filter((ring) => parseInt(ring) > cut);
      expect(rings(resumed, lines.slice(cut))).toEqual(later);
    }
  });

  it("says what was found, which batch was the last good one, and what to try", () => {
    const [alarm] = twice.slice(0, 3).flatMap((line) => openAlarms(truncation).after(line));
    expect(alarm).toEqual({
      step: 3,
      alarm: "truncation",
      action: "stop",
      metric: "rollout/truncated_share",
      value: 1,
      limit: 0.5,
      lastGoodStep: 2,
      message: expect.stringMatching(
        /^rollout\/truncated_share was 1 at step 3; at most 0\.5 is allowed\. The last step within it was 2: the same command with --replay-batch 2 .*budgets/,
      ) as string,
    });
  });

  it("keeps no more than its rules look back at: an older level is forgotten", () => {
    const searches = named([{ name: "search-collapse", smooth: 1, memory: 4 }]);
    const fell = [3, 3, 1, 1, 1, 0.5, 0.2];
    expect(rings(openAlarms(searches), metricLines({ "rollout/searches": fell }))).toEqual([
      "7 search-collapse",
    ]);
  });
});

describe("the alarms of a recipe", () => {
  it("are all rules by default, and only a number that is none sends a run back", () => {
    const all = named(undefined);
    expect(all.map(({ name }) => name)).toEqual(alarms.names);
    const acting = all.filter(({ action }) => action !== "warn");
    expect(acting).toEqual([{ name: "not-a-number", action: "rollback" }]);
  });

  it("may be none, or one rule with two limits", () => {
    expect(named([])).toEqual([]);
    const two = named([
      { name: "truncation", limit: 0.3 },
      { name: "truncation", limit: 0.8, action: "stop" },
    ]);
    expect(two).toEqual([
      { name: "truncation", smooth: 5, limit: 0.3, action: "warn" },
      { name: "truncation", smooth: 5, limit: 0.8, action: "stop" },
    ]);
  });

  it("are refused with the nearest name, and with the actions there are", () => {
    expect(() => named(["truncated"])).toThrow(
      errorWith("PART_UNKNOWN", 'no such alarm. Did you mean "truncation"?'),
    );
    expect(() => named([{ name: "truncation", action: "shout" }])).toThrow(
      errorWith("RECIPE_BAD_VALUE", 'allowed: "warn", "stop", "rollback"'),
    );
  });
});
