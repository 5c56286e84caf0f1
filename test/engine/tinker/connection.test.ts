import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { z } from "../../../src/base/schema.ts";
import { connect } from "../../../src/engine/tinker/connection.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";

let answer: (response: ServerResponse) => void;
const server = await localServer((_request, response) => {
  answer(response);
});
/** @param stallMs deadline of a request. */
const call = (stallMs = 30_000): Promise<unknown> =>
  connect({ url: server.url, apiKeyEnv: null, stallMs, http: { retries: 0 } }).call(
    "get_info",
    z.object({ model: z.string() }),
  );

describe("a server that is no training server", () => {
  it("is told by what it sent: a page, another shape, an error with status 200", async () => {
    answer = (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<title>Log in</title>");
    await expect(call()).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", 'the reply is not JSON. Found: "Log in" (a web page). Check'),
    );
    answer = (response) => {
      sendJson(response, { model: 4 });
    };
    await expect(call()).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", '$.model is 4: expected text. Found: "{\\"model\\":4}".'),
    );
    for (const body of [{ error: { message: "boom" } }, { detail: [{ msg: "boom" }] }]) {
      answer = (response) => {
        sendJson(response, body);
      };
      await expect(call()).rejects.toThrow(errorWith("ENGINE_REFUSED", 'saying "boom"'));
    }
  });

  it("that does not answer is told with the setting for it, and no other", async () => {
    answer = () => undefined;
    await expect(call(200)).rejects.toThrow(
      errorWith(
        "HTTP_TIMEOUT",
        "Raise deadlines.engineSeconds, or check whether the server is busy or stuck.",
      ),
    );
  });
});
