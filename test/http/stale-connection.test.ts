import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, expect, it } from "vitest";
import { z } from "../../src/base/schema.ts";
import { httpClient } from "../../src/http/client.ts";
import { httpShape } from "../../src/http/http-options.ts";

/** Closes a connection after .2 s without a request and says nothing of it, as uvicorn does after 5 s; in a thread of its own. */
const SERVER = `
  const { createServer } = require("node:http");
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { connection: "keep-alive", "content-length": 2 }).end("{}");
    });
  });
  server.keepAliveTimeout = 200;
  server.listen(0, "127.0.0.1", () => {
    require("node:worker_threads").parentPort.postMessage(server.address().port);
  });
`;

const server = new Worker(SERVER, { eval: true });
const [port] = (await once(server, "message")) as [number];
afterAll(() => server.terminate());

/** Computes without a turn of the event loop, so that nothing is heard of a connection that closes. */
function computeFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("sends what cannot be repeated over no connection that was closed while the process computed", async () => {
  const settings = z.object(httpShape).parse({});
  const url = `http://127.0.0.1:${port}`;
  const client = httpClient({ name: "engine", url, settings });
  const body = new Uint8Array(1_000_000);
  for (let step = 0; step < 3; step++) {
    expect(await client.request({ path: "/x", body, idempotent: false })).toMatchObject({
      status: 200,
    });
    computeFor(1000);
  }
});
