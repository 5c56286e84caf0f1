import { describe, expect, it } from "vitest";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import {
  openStrategy,
  requireFitting,
  strategyMark,
} from "../../../src/rollout/strategies/named-strategy.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
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

describe("requireFitting", () => {
  const world = (name: string) =>
    environments.get(name, "test").create({}, { retriever: noneRetriever() });

  it("refuses a strategy in an environment that lacks what it needs, and names one that fits", () => {
    const refused = errorWith(
      "STRATEGY_UNFIT",
      /^evaluation\.strategy is "rag", which needs searching.*"tool-qa".*agent/,
    );
    expect(() => {
      requireFitting("rag", world("tool-qa"), "evaluation.strategy");
    }).toThrow(refused);
    expect(() => {
      requireFitting({ name: "self-consistency" }, world("frozen-lake"), "s");
    }).toThrow(errorWith("STRATEGY_UNFIT", "answers"));
    const options = { policy: replay([]), environment: world("frozen-lake") };
    expect(() => openStrategy("rag", "s").run(rolloutOptions(options))).toThrow(
      errorWith("STRATEGY_UNFIT"),
    );
  });

  it("lets every strategy search, and agent play anywhere", () => {
    for (const name of ["search-qa", "tool-qa", "frozen-lake"])
      expect(() => {
        requireFitting("agent", world(name), "s");
      }).not.toThrow();
    expect(() => {
      requireFitting("rag", world("search-qa"), "s");
    }).not.toThrow();
  });
});

describe("strategyMark", () => {
  it("is the name where there is nothing else to say", () => {
    expect(strategyMark("agent")).toBe("agent");
    expect(strategyMark({ name: "agent" })).toBe("agent");
    expect(strategyMark({ name: "corag", steps: 3 })).toEqual({ name: "corag", steps: 3 });
  });
});
