/** Real pages in a real browser: of another origin, and of a name that was made to resolve to this machine (DNS rebinding). */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { executablePath, hasBrowser } from "../helpers/browser.ts";
import { type AskedServer, fourServers } from "../helpers/four-servers.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const readByPage = readFileSync(join(import.meta.dirname, "../helpers/read-by-page.mjs"), "utf8");

/** A page at an address whose name leads to this machine. */
async function pageAt(address: string): Promise<Page> {
  const browser = await chromium.launch({
    executablePath,
    // The servers must refuse by themselves, whatever a browser's rules for local addresses are.
    args: [
      "--no-sandbox",
      "--no-proxy-server",
      "--host-resolver-rules=MAP *.example 127.0.0.1",
      "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
    ],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(address);
  return page;
}

/** A server that answers every page: what a page can read at all. */
async function openServer(): Promise<AskedServer> {
  const server = createServer((_request, reply) => {
    reply.setHeader("access-control-allow-origin", "*").end("<p>open");
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    socket.send("open");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    name: "open",
    url,
    health: "/health",
    ask: { path: "/ask", body: {} },
    effects: () => 0,
  };
}

/** Everything that the page could read, in every way that a page can ask. */
async function readBy(page: Page, url: string, { health, ask }: AskedServer): Promise<string[]> {
  const about = { url, health, path: ask.path, body: JSON.stringify(ask.body) };
  await page.evaluate(readByPage);
  return await page.evaluate<string[]>(`readByPage(${JSON.stringify(about)})`);
}

const portOf = ({ url }: AskedServer): string => new URL(url).port;

describe.skipIf(!hasBrowser)(
  hasBrowser ? "pages in a browser" : "pages in a browser: no Chromium is installed",
  () => {
    it("a page of another origin reads nothing and starts nothing", async () => {
      const open = await openServer();
      const page = await pageAt(`http://evil.example:${portOf(open)}`);
      expect(await readBy(page, open.url, open)).toContain("open");
      for (const server of await fourServers(folder)) {
        for (const host of ["127.0.0.1", "localhost"]) {
          const url = `http://${host}:${portOf(server)}`;
          expect(await readBy(page, url, server), `${server.name} at ${host}`).toEqual([]);
        }
        expect(server.effects(), server.name).toBe(0);
      }
    }, 120_000);

    it("a page by DNS rebinding reads nothing and starts nothing", async () => {
      const open = await openServer();
      for (const server of [open, ...(await fourServers(folder))]) {
        const origin = `http://rebound.example:${portOf(server)}`;
        const read = await readBy(await pageAt(`${origin}/none`), origin, server);
        if (server === open)
          expect(read.filter((text) => text.includes("open")).length).toBeGreaterThan(4);
        else expect(read, server.name).toEqual([]);
        expect(server.effects(), server.name).toBe(0);
      }
    }, 120_000);
  },
);
