import { expect, it } from "vitest";
import { testHostile } from "../helpers/hostile.ts";
import { hostilePrograms } from "../helpers/hostile-programs.ts";

it("are many", () => {
  expect(hostilePrograms.length).toBeGreaterThanOrEqual(140);
});

testHostile(hostilePrograms);
