import { describe, expect, it } from "vitest";
import { openStrategy, strategyMark } from "../../../src/rollout/strategies/named-strategy.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { replay, rolloutOptions } from "../../helpers/search-world.ts";

describe("openStrategy", () => {
  it("takes a name alone, or a name with options", async () => {
    const policy = replay(["Thought", "Action: Search[rain]"]);
    const { name, searches, run } = openStrategy({ name: "react", steps: 1 }, "test");
    expect({ name, searches }).toEqual({ name: "react", searches: true });
    expect((await run(rolloutOptions({ policy }))).turns).toHaveLength(2);
    expect(openStrategy("direct", "test").searches).toBe(false);
  });

  it("names what there is when a strategy is unknown", () => {
    expect(() => openStrategy("reakt", "--strategy")).toThrow(errorWith("PART_UNKNOWN"));
    expect(() => openStrategy("reakt", "--strategy")).toThrow(/Did you mean "react"/);
  });

  it("refuses options that a strategy does not have", async () => {
    const { run } = openStrategy({ name: "react", step: 1 }, "test");
    const options = rolloutOptions({ policy: replay([]) });
    await expect(run(options)).rejects.toThrow(errorWith("RECIPE_UNKNOWN_KEY"));
  });
});

describe("strategyMark", () => {
  it("is the name where there is nothing else to say", () => {
    expect(strategyMark("agent")).toBe("agent");
    expect(strategyMark({ name: "agent" })).toBe("agent");
    expect(strategyMark({ name: "corag", steps: 3 })).toEqual({ name: "corag", steps: 3 });
  });
});
