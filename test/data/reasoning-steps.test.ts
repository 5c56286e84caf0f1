import { expect, it } from "vitest";
import { paragraphs } from "../../src/data/layouts/paragraphs.ts";

const read = (...reasoning_steps: string[]) =>
  paragraphs.read(
    { question_text: "?", answers_objects: [{ spans: ["Ada"] }], reasoning_steps },
    "a.jsonl:1",
  ).annotations.evidences;

it("reads the reasoning steps of Collab-RAG's files as triples", () => {
  expect(read("The Country Hunt director Jan Kowal", "Jan Kowal place of birth Lublin")).toEqual([
    { subject: "The Country Hunt", relation: "director", object: "Jan Kowal" },
    { subject: "Jan Kowal", relation: "place of birth", object: "Lublin" },
  ]);
});

it("reads no chain with a gap", () => {
  expect(read("The Hunt director Jan Kowal", "a sentence of another kind")).toBeUndefined();
});
