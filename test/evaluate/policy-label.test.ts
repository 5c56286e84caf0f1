import { expect, it } from "vitest";
import { policyLabel } from "../../src/evaluate/policy-label.ts";

it("tells two models of one server apart, and names all else by its place", () => {
  const from = "http://127.0.0.1:9001/v1";
  expect(policyLabel({ from, model: "small" })).toBe("small @ 127.0.0.1:9001");
  expect(policyLabel({ from, model: "org/large" })).toBe("org/large @ 127.0.0.1:9001");
  expect(policyLabel({ from: "runs/a/policy" })).toBe("runs/a/policy");
});
