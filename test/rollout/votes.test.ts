import { expect, it } from "vitest";
import { majority, voteOn } from "../../src/rollout/votes.ts";

it("finds the most frequent ballot, of several the one cast first", () => {
  const same = (left: string, right: string): boolean => left === right;
  expect(majority(["a", null, "b", "b"], same)).toEqual({ first: 2, votes: 2 });
  expect(majority(["a", "b"], same)).toEqual({ first: 0, votes: 1 });
  expect(majority([null, null], same)).toEqual({ first: null, votes: 0 });
});

it("votes on answers as they are compared, spelt as the first draw spelt them", () => {
  expect(voteOn(["Lima", "The Oslo", "oslo", null])).toEqual({
    answer: "The Oslo",
    confidence: 0.5,
  });
  expect(voteOn([null])).toEqual({ answer: null, confidence: 0 });
});
