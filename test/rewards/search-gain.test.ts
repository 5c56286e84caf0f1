import { describe, expect, it } from "vitest";
import { searchGain } from "../../src/rewards/search-gain.ts";
import type { Passage, TaskAnnotations } from "../../src/trajectory/task.ts";
import type { Observation } from "../../src/trajectory/trajectory.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, passages, task } from "../helpers/search-world.ts";

const named = (ids: readonly string[]): Passage[] => passages.filter(({ id }) => ids.includes(id));

/** A search that showed these passages of the world. */
function showed(...ids: string[]): Observation {
  const lines = named(ids).map(({ title, text }, i) => `Doc ${i + 1}(Title: ${title}) ${text}`);
  return { tool: "search", text: lines.join("\n"), passageIds: named(ids).map(({ id }) => id) };
}

const BERGEN_AND_GRIEG: TaskAnnotations = {
  supportingPassages: ["bergen", "grieg"],
  context: passages,
};

/** What turns with these observations are given, by turn. */
async function scoreOf(
  observations: Observation[][],
  { annotations = BERGEN_AND_GRIEG, ...options }: Record<string, unknown> = {},
): Promise<unknown> {
  const turns = observations.map((each, call) => ({
    call,
    text: "",
    observations: each,
    actions: [],
    problems: [],
  }));
  const asked = { ...task, annotations: annotations as TaskAnnotations };
  const trajectory = answered("Oslo", { turns });
  const [score] = await scoreWith(searchGain, [{ trajectory, task: asked }], options);
  return score;
}

describe("search-gain", () => {
  it("pays the share of the gold passages that come closer, less the share of repeated passages", async () => {
    const scores = await scoreOf([[showed("bergen")], [showed("bergen", "grieg")], []]);
    // Bergen's passage and Grieg's share "in" and "bergen" (idf 1), each once. Of the others in either, 6 have ln(4 / 3) + 1 or ln(2) + 1.
    expect(scores).toEqual([
      { turn: 0, value: expect.closeTo(0.5 + similarity / 2, 6) as number },
      { turn: 1, value: expect.closeTo((1 - similarity) / 2 - 0.5, 6) as number },
    ]);
  });

  it("takes -1 from a search that shows again what was shown", async () => {
    const again = await scoreOf([[showed("bergen", "grieg")], [showed("bergen", "grieg")]]);
    expect(again).toEqual([
      { turn: 0, value: expect.closeTo(1, 9) as number },
      { turn: 1, value: -1 },
    ]);
  });

  it("counts a passage that one turn's searches show twice as repeated", async () => {
    expect(await scoreOf([[showed("grieg"), showed("grieg")]], { gain: 0 })).toEqual([
      { turn: 0, value: -0.5 },
    ]);
  });

  it("leaves out what is not weighed", async () => {
    const searches = [[showed("bergen", "grieg")], [showed("grieg")]];
    expect(await scoreOf(searches, { redundancy: 0 })).toMatchObject([
      { value: expect.closeTo(1, 9) as number },
      { value: 0 },
    ]);
    expect(await scoreOf(searches, { gain: 0 })).toMatchObject([{ value: 0 }, { value: -1 }]);
  });

  it("gives 0 to a search that found nothing, and nothing to turns without a search", async () => {
    const none = { tool: "search", text: "Nothing was found.", passageIds: [] };
    expect(await scoreOf([[none], []])).toEqual([{ turn: 0, value: 0 }]);
  });

  it("cannot score a question without the texts of its gold passages", async () => {
    const { supportingPassages = [] } = BERGEN_AND_GRIEG;
    const search = [[showed("bergen")]];
    expect(await scoreOf(search, { annotations: { supportingPassages } })).toBeNull();
    const lacking = { supportingPassages, context: named(["grieg"]) };
    expect(await scoreOf(search, { annotations: lacking })).toBeNull();
    expect(await scoreOf(search, { annotations: { context: passages } })).toBeNull();
  });
});

/**
 * TF-IDF cosine of Bergen's passage with Grieg's, fitted on Bergen's twice (shown and gold) and Grieg's, by hand: n = 3.
 * Bergen: bergen is city in norway with much rain; grieg was composer born in bergen. Common: bergen and in, idf ln(4 / 4) + 1 = 1.
 * Bergen's other six: ln(4 / 3) + 1 = 1.287682; Grieg's other four: ln(4 / 2) + 1 = 1.693147.
 */
const similarity = 2 / Math.sqrt((2 + 6 * 1.287682 ** 2) * (2 + 4 * 1.693147 ** 2));
