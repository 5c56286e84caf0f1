import { describe, expect, it } from "vitest";
import { stepQueries } from "../../../src/worlds/tiny/text.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { briefPlan } from "../../../src/synth/teachers/brief-plan.ts";
import { behaviourSchema } from "../../../src/synth/teachers/behaviour.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Turn } from "../../../src/trajectory/trajectory.ts";

const world = tinyWorld({ seed: 1, split: "base", people: 100, passages: "fact" });
const task = [...world.questions(40)].find(({ annotations }) => annotations.hops === 2);
const [first, second] = task?.annotations.decomposition ?? [];

/** A turn that searched for `input` and was shown these passages. */
function searched(input: string, passageIds: string[]): Turn {
  return {
    call: 0,
    text: "",
    problems: [],
    actions: [{ tool: "search", input }],
    observations: [{ tool: "search", text: "", passageIds }],
  };
}

/** Actions over many seeds. */
function planned(turns: Turn[], behaviour: object): Set<string> {
  const all = Array.from({ length: 60 }, (_, seed) => {
    const place = { task: task as Task, turns };
    const { action } = briefPlan(place, behaviourSchema.parse(behaviour), seed);
    return `${action.tool}: ${action.input}`;
  });
  return new Set(all);
}

describe("briefPlan", () => {
  const queries = stepQueries(first?.question ?? "");

  it("searches for the label, or for each of the words that may state the fact", () => {
    expect(planned([], {})).toEqual(new Set([`search: ${first?.question ?? ""}`]));
    expect(queries.length).toBe(3);
    const reworded = new Set(queries.map((query) => `search: ${query}`));
    expect(planned([], { reword: 1 })).toEqual(reworded);
  });

  it("tries another word after a miss, and any again when none is left", () => {
    const [one = "", two = "", three = ""] = queries;
    const miss = [searched(one, ["elsewhere"])];
    expect(planned(miss, { reword: 1 })).toEqual(new Set([`search: ${two}`, `search: ${three}`]));
    const all = [...miss, searched(two, []), searched(three, [])];
    expect(planned(all, { reword: 1 }).size).toBe(3);
  });

  it("gives up after a miss where it does not retry, with what it has read", () => {
    const found = searched(queries[0] ?? "", [first?.passage ?? ""]);
    const behaviour = { retry: 0, continue: 1 };
    expect(planned([found], behaviour)).toEqual(new Set([`search: ${second?.question ?? ""}`]));
    const missed = [found, searched("nothing", [])];
    expect(planned(missed, behaviour)).toEqual(new Set([`answer: ${first?.answer ?? ""}`]));
  });

  it("answers unknown after a search for a fact that no passage states", () => {
    const lacking = tinyWorld({ seed: 1, split: "base", people: 100, missing: 0.3 });
    const mix = { bridge1: 1, bridge2: 0, bridge3: 0, comparison: 0, yesNo: 0 };
    const unknown = lacking.question(0, { mix, unanswerable: 1 });
    const place = (turns: Turn[]) => ({ task: unknown, turns });
    const behaviour = behaviourSchema.parse({});
    expect(briefPlan(place([]), behaviour, 1).action.tool).toBe("search");
    expect(briefPlan(place([searched("one", ["elsewhere"])]), behaviour, 1).action).toEqual({
      tool: "answer",
      input: "unknown",
    });
  });

  it("answers from memory without a search, its thought going through the steps", () => {
    const place = { task: task as Task, turns: [], remembered: ["Lumula", "Cogdax"] };
    const { thought, action } = briefPlan(place, behaviourSchema.parse({}), 1);
    expect(action).toEqual({ tool: "answer", input: "Cogdax" });
    expect(thought).toBe(
      `I know this the ${first?.question ?? ""} is Lumula the ${second?.question ?? ""} is Cogdax`,
    );
    expect(briefPlan(place, behaviourSchema.parse({ recall: 0 }), 1).action.tool).toBe("search");
  });

  it("has habits: to send a query twice, and to search when all is known", () => {
    const one = searched(queries[0] ?? "", [first?.passage ?? ""]);
    const two = searched(second?.question ?? "", [second?.passage ?? ""]);
    expect(planned([one], { repeat: 1 })).toEqual(new Set([`search: ${queries[0] ?? ""}`]));
    const steps = [first, second].map((step) => `search: ${step?.question ?? ""}`);
    expect(planned([one, two], { overSearch: 1 })).toEqual(new Set(steps));
  });

  it("goes on as before after a message that could not be read", () => {
    const unread = { ...searched("", []), actions: [] };
    expect(planned([unread], { retry: 0 })).toEqual(new Set([`search: ${first?.question ?? ""}`]));
  });
});
