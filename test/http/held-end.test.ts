import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { transfer } from "../../src/http/transfer.ts";

/** A server that closes the connection after its reply, as `python3 -m http.server` does. */
async function closingServer(head: string, body: Buffer): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(head);
      socket.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Reads slower than the server sends. */
async function slowly(endpoint: string): Promise<number> {
  const settings = { endpoint, token: null, timeoutMs: 20_000, retries: 0, retryDelayMs: 1 };
  const request = { method: "GET", url: new URL(`${endpoint}/x`), follow: "endpoint" } as const;
  return transfer(settings, request, async (response) => {
    let bytes = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      await wait(5);
    }
    return bytes;
  });
}

// Sizes around those of the buffers of a socket and of a body.
const sizes = [1000, 65_536, 133_728, 150_112, 190_000, 264_800, 412_000];

it.each([
  [
    "HTTP/1.0 with a length",
    (size: number) => `HTTP/1.0 200 OK\r\nContent-Length: ${size}\r\n\r\n`,
  ],
  ["HTTP/1.0 without a length", () => "HTTP/1.0 200 OK\r\n\r\n"],
  [
    "HTTP/1.1 that closes",
    (size: number) => `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`,
  ],
])("reads a reply of %s to its end, however slowly", async (_, head) => {
  for (const size of sizes)
    expect(await slowly(await closingServer(head(size), Buffer.alloc(size, "x")))).toBe(size);
});
it("reports a reply that is cut", async () => {
  const head = "HTTP/1.0 200 OK\r\nContent-Length: 300000\r\n\r\n";
  await expect(slowly(await closingServer(head, Buffer.alloc(200_000)))).rejects.toThrow();
});
