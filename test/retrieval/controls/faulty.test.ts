import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { contextOf, listed, shown } from "../../helpers/listed-retriever.ts";
import { replay, rolloutOptions, searchEnvironment, task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("faulty", "test");
const open = (options: object, inner = listed("abc".split(""))) =>
  part.open({ of: "none", ...options }, contextOf([inner]));
const queries = Array.from({ length: 500 }, (_, i) => `query ${i}`);

/** What each query of its own search leads to. */
async function outcomes(options: object, asked = queries): Promise<string[]> {
  const retriever = await open(options);
  return Promise.all(
    asked.map(async (query) => {
      try {
        const [hits] = await retriever.search([query], 2);
        return hits!.length === 0 ? "empty" : "sound";
      } catch (error) {
        return (error as { code: string }).code;
      }
    }),
  );
}

describe("faulty", () => {
  it("fails and finds nothing at the rates, and answers the rest as the retriever does", async () => {
    const found = await outcomes({ errors: 0.3, empty: 0.2 });
    const share = (outcome: string) => found.filter((each) => each === outcome).length / 500;
    // Deviations of .02.
    expect(Math.abs(share("SEARCH_FAULT") - 0.3)).toBeLessThan(0.08);
    expect(Math.abs(share("empty") - 0.2)).toBeLessThan(0.08);
    expect(share("SEARCH_FAULT") + share("empty") + share("sound")).toBe(1);
  });

  it("draws by seed, query and how often the query was asked", async () => {
    const options = { errors: 0.5 };
    const found = await outcomes(options);
    expect((await outcomes(options, queries.toReversed())).toReversed()).toEqual(found);
    expect(await outcomes({ ...options, seed: 1 })).not.toEqual(found);
    const same = await outcomes(options, Array<string>(50).fill("rain"));
    expect(new Set(same)).toEqual(new Set(["sound", "SEARCH_FAULT"]));
    expect(await outcomes(options, Array<string>(50).fill("rain"))).toEqual(same);
  });

  it("gives each query of a search its own fate, and asks for the sound ones only", async () => {
    const inner = listed("abc".split(""));
    const retriever = await open({ empty: 0.5 }, inner);
    const found = await retriever.search(queries.slice(0, 6), 1, {
      contexts: queries.slice(0, 6).map((query) => ({ task: { ...task, id: query } })),
    });
    const [{ queries: asked, options }] = inner.asked as [(typeof inner.asked)[0]];
    expect(asked).toEqual(queries.slice(0, 6).filter((_, i) => found[i]!.length > 0));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(6);
    expect(options.contexts!.map((asker) => asker.task.id)).toEqual(asked);
    expect(shown(found.find((hits) => hits.length > 0))).toEqual(["a 3"]);
  });

  it("names itself in its errors", async () => {
    await expect((await open({ errors: 1 })).search(["rain"], 1)).rejects.toThrow(
      errorWith("SEARCH_FAULT", 'faulty: failed on purpose for "rain", asked 0 times before'),
    );
  });

  it("hangs until the signal aborts, or until it is closed", async () => {
    const retriever = await open({ hangs: 1 });
    const halt = new AbortController();
    const hanging = retriever.search(["rain"], 1, { signal: halt.signal });
    const other = retriever.search(["snow"], 1);
    halt.abort(new Error("stop"));
    await expect(hanging).rejects.toThrow("stop");
    await retriever.close();
    await expect(other).rejects.toThrow(errorWith("SEARCH_FAULT", "was closed"));
  });

  it("is late by as much as it is told, and an abort does not wait for it", async () => {
    const late = await open({ latencyMs: { from: 20, to: 30 } });
    const begun = performance.now();
    await late.search(["rain", "snow"], 1);
    // Timers may fire a millisecond early.
    expect(performance.now() - begun).toBeGreaterThanOrEqual(19);
    const slow = await open({ latencyMs: 3_600_000 });
    const halt = new AbortController();
    const waiting = slow.search(["rain"], 1, { signal: halt.signal });
    halt.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  it("refuses rates above 1 together and ranges upside down", async () => {
    await expect(open({ errors: 0.6, empty: 0.6 })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "add up to at most 1"),
    );
    await expect(open({ latencyMs: { from: 3, to: 2 } })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "faulty.latencyMs"),
    );
  });

  it("has another fingerprint for every option", async () => {
    const all = await Promise.all(
      [{}, { errors: 0.1 }, { empty: 0.1 }, { hangs: 0.1 }, { seed: 1 }, { latencyMs: 1 }].map(
        (options) => open(options),
      ),
    );
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(6);
  });
});

describe("a rollout over a faulty retriever", () => {
  const policy = () => replay(["<search>rain</search>", "<answer>Oslo</answer>"]);

  it("records the failure on the trajectory", async () => {
    const environment = searchEnvironment({}, await open({ errors: 1 }));
    const trajectory = await rollOut(rolloutOptions({ policy: policy(), environment }));
    expect(trajectory).toMatchObject({ end: "tool-error", answer: null, reward: null });
    expect(trajectory.error).toMatchObject({ boundary: "tool", code: "TOOL_FAILED" });
    expect(trajectory.error?.message).toContain("faulty: failed on purpose");
  });

  it("shows that nothing was found and goes on after an empty reply", async () => {
    const environment = searchEnvironment({}, await open({ empty: 1 }));
    const trajectory = await rollOut(rolloutOptions({ policy: policy(), environment }));
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(trajectory.turns[0]!.observations[0]!.text).toBe("Nothing was found.");
  });

  it("ends a hanging search when the run is interrupted", async () => {
    const environment = searchEnvironment({}, await open({ hangs: 1 }));
    const halt = new AbortController();
    const options = rolloutOptions({ policy: policy(), environment, signal: halt.signal });
    const playing = rollOut(options);
    setImmediate(() => {
      halt.abort(new Error("interrupted"));
    });
    await expect(playing).rejects.toThrow("interrupted");
  });
});
