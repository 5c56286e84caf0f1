import { describe, expect, it } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { readApiKey } from "../../src/http/api-key.ts";
import { httpShape, serverAddress } from "../../src/http/http-options.ts";
import { errorWith } from "../helpers/error-with.ts";

const schema = z.strictObject({ url: serverAddress, ...httpShape });
const check = (url: string) => parseOptions(schema, { url }, "qdrant");

describe("a server's address", () => {
  it("is http or https", () => {
    expect(check("http://127.0.0.1:8000/a?version=2").url).toBe(
      "http://127.0.0.1:8000/a?version=2",
    );
    expect(() => check("ftp://localhost:8000")).toThrow(
      errorWith(
        "RECIPE_BAD_VALUE",
        'qdrant.url is "ftp://localhost:8000": expected an address that starts with http:// or https://.',
      ),
    );
    expect(() => check("127.0.0.1")).toThrow(
      errorWith("RECIPE_BAD_VALUE", "expected the address of a server"),
    );
  });

  it("holds no password and no key, and the message does not repeat one", () => {
    for (const url of [
      "https://user:hunter2@host",
      "user:hunter2@host",
      "https://host/?api_key=hunter2",
      "https://host/?sig=1&access_token=hunter2",
    ]) {
      let message = "";
      try {
        check(url);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toContain("qdrant.url contains a user name, password or key");
      expect(message).not.toContain("hunter2");
    }
  });
});

describe("a key from the environment", () => {
  it("is trimmed", () => {
    process.env["AGENTRL_TEST_KEY"] = " abc\n";
    expect(readApiKey("AGENTRL_TEST_KEY", "judge.apiKeyEnv")).toBe("abc");
  });

  it("is asked for by the name of its variable when it is not there", () => {
    expect(() => readApiKey("AGENTRL_TEST_NO_KEY", "judge.apiKeyEnv", "Or do without.")).toThrow(
      errorWith(
        "HTTP_KEY_MISSING",
        "judge.apiKeyEnv: the environment variable AGENTRL_TEST_NO_KEY is not set. Put the key into it. Or do without.",
      ),
    );
  });

  it("is not shown when it cannot be one", () => {
    process.env["AGENTRL_TEST_KEY"] = "abc def";
    let message = "";
    try {
      readApiKey("AGENTRL_TEST_KEY", "judge.apiKeyEnv");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("contains white space");
    expect(message).not.toContain("abc");
  });
});
