import { describe, expect, it } from "vitest";
import { Graph } from "../../src/autodiff/graph.ts";
import { rotaryTables } from "../../src/models/decoder.ts";
import { ropeFrequencies } from "../../src/models/rope.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

const config = { ...tinyConfig, headDim: 6, ropeTheta: 1000 };

describe("rotary frequencies", () => {
  it("fall from 1 by the same ratio", () => {
    expectClose(ropeFrequencies(config), [1, 0.1, 0.01]);
  });

  it("are all slowed alike by linear scaling", () => {
    const ropeScaling = { type: "linear", factor: 4 } as const;
    expectClose(ropeFrequencies({ ...config, ropeScaling }), [0.25, 0.025, 0.0025]);
  });

  it("are slowed by llama3 where their waves are long, kept where they are short, between them by degrees", () => {
    // 40π positions: 20, 2 and .2 waves fit. Borders 1 and 5: kept, a quarter of the way from slowed to kept, slowed.
    const borders = { lowFrequencyFactor: 1, highFrequencyFactor: 5 };
    const originalPositions = 40 * Math.PI;
    const ropeScaling = { type: "llama3", factor: 8, ...borders, originalPositions } as const;
    const between = 0.75 * (0.1 / 8) + 0.25 * 0.1;
    expectClose(ropeFrequencies({ ...config, ropeScaling }), [1, between, 0.01 / 8]);
  });

  it("turn each position by its multiple", () => {
    const graph = new Graph();
    const { cos, sin } = rotaryTables(graph, config, 3);
    expect(cos.shape).toEqual([3, 3]);
    const angles = [0, 0, 0, 1, 0.1, 0.01, 2, 0.2, 0.02];
    expectClose(graph.constants.get(cos)!, angles.map(Math.cos));
    expectClose(graph.constants.get(sin)!, angles.map(Math.sin));
  });
});
