import { spawnSync } from "node:child_process";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll } from "vitest";

/** Debian's chromium, or what `CHROMIUM` names; nothing is ever downloaded. */
export const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether the browser starts, so that pages can be tested; where not, their tests are skipped. */
export const hasBrowser = spawnSync(executablePath, ["--version"]).status === 0;

/** A page that writes down what it should not do. */
export interface WatchedPage {
  page: Page;
  /** Errors and warnings of the console, and uncaught exceptions. */
  complaints: string[];
  /** Addresses that were asked for, apart from the opened file itself. */
  requests: string[];
}

let browser: Promise<Browser> | null = null;

/** Opens a file in a real browser, started once per test file and closed after its last test. */
export async function openPage(
  path: string,
  options: BrowserContextOptions & { hash?: string } = {},
): Promise<WatchedPage> {
  const { hash = "", ...contextOptions } = options;
  browser ??= start();
  const context = await (await browser).newContext(contextOptions);
  const page = await context.newPage();
  const watched: WatchedPage = { page, complaints: [], requests: [] };
  const own = `file://${path}`;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) watched.complaints.push(message.text());
  });
  page.on("pageerror", (error) => watched.complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== own) watched.requests.push(request.url());
  });
  await page.goto(own + hash, { waitUntil: "load" });
  return watched;
}

afterAll(async () => {
  await (await browser)?.close();
});

function start(): Promise<Browser> {
  // In a container there is often no user namespace for the sandbox; only files of our own are opened.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
