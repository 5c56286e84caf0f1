import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A request as a local server received it. */
export interface Received {
  method: string;
  /** Path and parameters. */
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface LocalServer {
  /** http://127.0.0.1:PORT */
  url: string;
  /** In order of arrival; emptied by the test that counts. */
  received: Received[];
  close(): Promise<void>;
}

/** A real HTTP server on loopback, closed after the file's last test. `answer` may hang, cut the socket or write anything. */
export async function localServer(
  answer: (request: Received, response: ServerResponse, count: number) => void,
): Promise<LocalServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(asked);
      answer(asked, response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> => closeServer(server);
  afterAll(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, close };
}

/** Writes JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
