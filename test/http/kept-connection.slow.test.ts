import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { z } from "../../src/base/schema.ts";
import { httpClient } from "../../src/http/client.ts";
import { httpShape } from "../../src/http/http-options.ts";

let connections = 0;
/** Keeps connections for a minute and does not say so. */
const server = createServer((_, response) => {
  response.writeHead(200, { connection: "keep-alive", "content-length": 2 }).end("{}");
}).on("connection", () => (connections += 1));
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it("uses a connection again after seconds for what can be repeated, and a new one for what cannot", async () => {
  const { port } = server.address() as AddressInfo;
  const settings = z.object(httpShape).parse({});
  const client = httpClient({ name: "engine", url: `http://127.0.0.1:${port}`, settings });
  const counted = async (idempotent: boolean): Promise<number> => {
    for (let i = 0; i < 2; i++) {
      await client.request({ path: "/x", body: {}, idempotent });
      if (i === 0) await wait(6500);
    }
    return connections;
  };
  expect(await counted(true)).toBe(1);
  expect(await counted(false)).toBe(3);
}, 30_000);
