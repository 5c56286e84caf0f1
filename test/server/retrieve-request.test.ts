import { describe, expect, it } from "vitest";
import { retrieveRequestParser } from "../../src/server/retrieve-request.ts";

const parse = retrieveRequestParser(100);
const json = (body: unknown) => parse(JSON.stringify(body), "application/json");
const topk = (value: unknown) => json({ queries: ["x"], topk: value });
const scores = (value: unknown) => json({ queries: ["x"], return_scores: value });
const one = (type: string, loc: (string | number)[], msg: string) => ({
  problems: [{ type, loc: ["body", ...loc], msg }],
});

// The verdicts of FastAPI 0.165 with pydantic 2.14 on Search-R1's model, found by asking both with the same bodies.
describe("a body of POST /retrieve", () => {
  it("is read with its defaults", () => {
    expect(json({ queries: ["a", ""], eid: 4 })).toEqual({
      request: { queries: ["a", ""], topk: 3, returnScores: false },
    });
    expect(json({ queries: [], topk: 8, return_scores: true })).toEqual({
      request: { queries: [], topk: 8, returnScores: true },
    });
  });

  it("has queries of a question's length", () => {
    const most = 2 ** 15;
    expect(json({ queries: ["x".repeat(most)] })).toHaveProperty("request");
    expect(json({ queries: ["a", "x".repeat(most + 1)] })).toEqual(
      one("string_too_long", ["queries", 1], `String should have at most ${most} characters`),
    );
  });

  it("with a million wrong queries is refused in one look at twenty of them", () => {
    const parsed = json({ queries: Array.from({ length: 1_000_000 }, () => 1) });
    expect("problems" in parsed && parsed.problems.length).toBe(20);
  });

  it("may come as any kind of JSON, or without saying", () => {
    const body = '{"queries":["x"]}';
    for (const type of [undefined, "application/json; charset=utf-8", "application/vnd.x+json"]) {
      expect(parse(body, type)).toHaveProperty("request");
    }
    expect(parse(body, "text/plain")).toEqual(
      one(
        "model_attributes_type",
        [],
        "Input should be a valid dictionary or object to extract fields from (the content type is text/plain; send application/json)",
      ),
    );
  });

  it("must be an object", () => {
    const message = "Input should be a valid dictionary or object to extract fields from";
    for (const body of [null, [], 3, "x"]) {
      expect(json(body)).toEqual(one("model_attributes_type", [], message));
    }
    expect(parse("", "application/json")).toEqual(one("missing", [], "Field required"));
    expect(parse('{"queries":', undefined)).toEqual(one("json_invalid", [], "JSON decode error"));
  });

  it("must have queries, a list of texts", () => {
    expect(json({})).toEqual(one("missing", ["queries"], "Field required"));
    for (const queries of [null, "x", {}]) {
      const problem = one("list_type", ["queries"], "Input should be a valid list");
      expect(json({ queries })).toEqual(problem);
    }
    const problem = one("string_type", ["queries", 1], "Input should be a valid string");
    expect(json({ queries: ["x", 1] })).toEqual(problem);
    const many = json({ queries: Array.from({ length: 500 }, () => 1) });
    expect("problems" in many && many.problems).toHaveLength(20);
  });

  it("may have one query, as skyrl-gym sends it", () => {
    expect(json({ query: "a", topk: 2, return_scores: true })).toEqual({
      request: { queries: ["a"], topk: 2, returnScores: true },
    });
    expect(json({ query: "a", queries: ["b"] })).toMatchObject({ request: { queries: ["b"] } });
    expect(json({ query: 1 })).toEqual(one("missing", ["queries"], "Field required"));
  });

  it("may give topk as pydantic takes whole numbers", () => {
    for (const value of [5, "5", " 5 ", "+5", "5.0"]) {
      expect(topk(value)).toMatchObject({ request: { topk: 5 } });
    }
    for (const value of [0, false, "0", null]) {
      expect(topk(value)).toMatchObject({ request: { topk: 3 } });
    }
    expect(topk(true)).toMatchObject({ request: { topk: 1 } });
    const integer = "Input should be a valid integer";
    expect(topk(2.5)).toEqual(
      one("int_from_float", ["topk"], `${integer}, got a number with a fractional part`),
    );
    expect(topk("x")).toEqual(
      one("int_parsing", ["topk"], `${integer}, unable to parse string as an integer`),
    );
    expect(topk([])).toEqual(one("int_type", ["topk"], integer));
  });

  it("may ask for 0 to the limit", () => {
    expect(topk(100)).toMatchObject({ request: { topk: 100 } });
    const should = "Input should be";
    expect(topk(101)).toEqual(
      one("less_than_equal", ["topk"], `${should} less than or equal to 100`),
    );
    expect(topk(-1)).toEqual(
      one("greater_than_equal", ["topk"], `${should} greater than or equal to 0`),
    );
  });

  it("may give return_scores as pydantic takes truth values", () => {
    for (const value of [true, 1, "1", "TRUE", "yes", "on", "t"]) {
      expect(scores(value)).toMatchObject({ request: { returnScores: true } });
    }
    for (const value of [false, 0, "no", "Off", "f"]) {
      expect(scores(value)).toMatchObject({ request: { returnScores: false } });
    }
    const boolean = "Input should be a valid boolean";
    for (const value of [2, "maybe", ""]) {
      const problem = one(
        "bool_parsing",
        ["return_scores"],
        `${boolean}, unable to interpret input`,
      );
      expect(scores(value)).toEqual(problem);
    }
    for (const value of [null, [], 0.5]) {
      expect(scores(value)).toEqual(one("bool_type", ["return_scores"], boolean));
    }
  });
});
