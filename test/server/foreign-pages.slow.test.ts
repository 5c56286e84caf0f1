/** Real pages in a real browser: of another origin, and of a name that was made to resolve to this machine (DNS rebinding). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { executablePath, hasBrowser } from "../helpers/browser.ts";
import { type AskedServer, fourServers } from "../helpers/four-servers.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const readByPage = readFileSync(join(import.meta.dirname, "../helpers/read-by-page.mjs"), "utf8");

/** A page of an origin, whatever server its address leads to. */
async function pageOf(origin: string): Promise<Page> {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1"],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.route(`${origin}/`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<p>" }),
  );
  await page.goto(`${origin}/`);
  return page;
}

/** Everything that the page could read, in every way that a page can ask. */
async function readBy(page: Page, url: string, { health, ask }: AskedServer): Promise<string[]> {
  const about = { url, health, path: ask.path, body: JSON.stringify(ask.body) };
  await page.evaluate(readByPage);
  return await page.evaluate<string[]>(`readByPage(${JSON.stringify(about)})`);
}

describe.skipIf(!hasBrowser)(
  `pages in a browser (${hasBrowser ? "" : "no Chromium is installed"})`,
  () => {
    it("a page of another origin reads nothing and starts nothing", async () => {
      const servers = await fourServers(folder);
      const page = await pageOf("http://evil.example:7777");
      for (const server of servers) {
        for (const host of ["127.0.0.1", "localhost"]) {
          const url = `http://${host}:${new URL(server.url).port}`;
          expect(await readBy(page, url, server), `${server.name} at ${host}`).toEqual([]);
        }
        expect(server.effects(), server.name).toBe(0);
      }
    }, 120_000);

    it("a page by DNS rebinding reads nothing and starts nothing", async () => {
      for (const server of await fourServers(folder)) {
        const origin = `http://rebound.example:${new URL(server.url).port}`;
        expect(await readBy(await pageOf(origin), origin, server), server.name).toEqual([]);
        expect(server.effects(), server.name).toBe(0);
      }
    }, 120_000);
  },
);
