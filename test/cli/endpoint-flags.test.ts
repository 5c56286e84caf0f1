import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { endpointOptions, endpointValues, servedModel } from "../../src/cli/endpoint-flags.ts";
import { addOptions } from "../../src/cli/options.ts";
import { isServerAddress, serverAddress } from "../../src/http/http-options.ts";
import { errorWith } from "../helpers/error-with.ts";

const valuesOf = (...args: string[]): object => {
  const command = addOptions(new Command(), endpointOptions({ maxTokens: "512", cache: "none" }));
  return endpointValues(command.parse(args, { from: "user" }).opts());
};

describe("flags of a server", () => {
  it("give the settings that they name, and no others", () => {
    expect(valuesOf()).toEqual({});
    expect(
      valuesOf("--max-tokens", "900", "--retries", "0", "--concurrency", "3", "--cache", "replies"),
    ).toEqual({ maxTokens: 900, retries: 0, concurrency: 3, cache: "replies" });
    expect(valuesOf("--no-cache", "--api-key-env", "none")).toEqual({
      cache: null,
      apiKeyEnv: null,
    });
    expect(valuesOf("--price-in", "1", "--price-out", "4")).toEqual({
      price: { promptPerMillion: 1, completionPerMillion: 4 },
    });
  });

  it("raise the time limit of all attempts with that of one, which would else be cut by it", () => {
    expect(valuesOf("--timeout-ms", "300000")).toEqual({
      timeoutMs: 300_000,
      deadlineMs: 1_200_000,
    });
  });

  it("refuse a variable without a key, a price alone and a server without a model", () => {
    expect(() => valuesOf("--api-key-env", "AGENTRL_TEST_NO_KEY")).toThrow(
      errorWith("HTTP_KEY_MISSING", /--api-key-env.*AGENTRL_TEST_NO_KEY/),
    );
    expect(() => valuesOf("--price-out", "4")).toThrow(errorWith("USAGE", "--price-in"));
    expect(() => servedModel("http://h:1/v1", {}, "--policy")).toThrow(
      errorWith("USAGE", /--model.*http:\/\/h:1\/v1\/models/),
    );
  });
});

describe("the address of a server", () => {
  it("needs no scheme where it names a port", () => {
    expect(serverAddress.parse("localhost:9001/v1")).toBe("http://localhost:9001/v1");
    expect(serverAddress.parse("10.0.0.7:8000")).toBe("http://10.0.0.7:8000");
    expect(["localhost:9001/v1", "[::1]:80/v1", "https://h/v1"].every(isServerAddress)).toBe(true);
    expect(["runs/a", "org/name", "c:/models", "base"].some(isServerAddress)).toBe(false);
  });
});
