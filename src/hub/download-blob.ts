import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ExternalError } from "../base/errors.ts";
import { isAlive, processMark } from "../base/process-mark.ts";
import { exists, sizeOf } from "./hub-cache.ts";
import { hubExchange, Interruption, withRetries } from "./hub-exchange.ts";
import { type HubName, hubNameText } from "./hub-name.ts";
import type { HubSettings } from "./hub-settings.ts";
import { refusal } from "./refusal.ts";
import { isAsPromised, type RemoteFile } from "./remote-file.ts";

export interface BlobRequest {
  settings: HubSettings;
  name: HubName;
  file: RemoteFile;
  /** Where the whole file goes. */
  blob: string;
  /** Bytes of the file that are here; may fall when a download begins anew. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

/** Downloads under way in this process, by their blob: several models may share one. */
const underWay = new Map<string, Promise<void>>();

/**
 * Downloads one file into the cache, once: what an ended process has left of it is gone on with, what another one is loading is
 * waited for, and the file takes its place only when it is whole and as promised.
 *
 * @throws {ExternalError} HUB_UNREACHABLE, HUB_CHECKSUM; as `refusal`; and as the disk does.
 */
export async function downloadBlob(request: BlobRequest): Promise<void> {
  const { blob } = request;
  const known = underWay.get(blob);
  if (known !== undefined) return known;
  const work = download(request).finally(() => underWay.delete(blob));
  underWay.set(blob, work);
  return work;
}

async function download(request: BlobRequest): Promise<void> {
  const { blob, file, name, signal } = request;
  const what = `${hubNameText(name)}: ${file.name}`;
  await mkdir(dirname(blob), { recursive: true });
  if (await loadedByOther(request)) return;
  const partial = `${blob}.${processMark()}${ENDING}`;
  for (let attempt = 1; ; attempt++) {
    await withRetries(request.settings, { what, signal }, (progress) =>
      fetchRest(request, partial, progress),
    );
    if ((await isAsPromised(partial, file)) !== false) break;
    await rm(partial, { force: true });
    // What an earlier run left may have been wrong; a file that came whole from here is not asked for again and again.
    if (attempt === 2) throw notAsPromised(request, what);
  }
  await rename(partial, blob);
}

/** End of the name of a file that is not whole yet; the name says which process writes it. */
const ENDING = ".incomplete";
/** A process that has written nothing for so long is not waited for. */
const IDLE_MS = 60_000;
const LOOK_MS = 200;

/**
 * Waits while another process of this machine loads the same file, and takes over what ended ones have left.
 * @returns true when the file is there.
 */
async function loadedByOther({ blob, signal, onBytes }: BlobRequest): Promise<boolean> {
  for (;;) {
    if (await exists(blob)) return true;
    const parts = await partsOf(blob);
    const busy = parts.find(({ mark, idleMs }) => isAlive(mark) && idleMs < IDLE_MS);
    if (busy === undefined) {
      await takeOver(
        blob,
        parts.filter(({ mark }) => !isAlive(mark)),
      );
      return false;
    }
    onBytes(busy.size);
    await wait(LOOK_MS);
    signal?.throwIfAborted();
  }
}

interface Part {
  path: string;
  mark: string;
  size: number;
  idleMs: number;
}

/** Parts of a blob that other processes have written. */
async function partsOf(blob: string): Promise<Part[]> {
  const start = `${basename(blob)}.`;
  const parts: Part[] = [];
  for (const entry of await readdir(dirname(blob))) {
    if (!entry.startsWith(start) || !entry.endsWith(ENDING)) continue;
    const mark = entry.slice(start.length, -ENDING.length);
    // Without a mark it is another program's; with our own, what an earlier attempt of this process left.
    if (mark === "" || mark === processMark()) continue;
    const path = join(dirname(blob), entry);
    const found = await stat(path).catch(() => null);
    if (found !== null)
      parts.push({ path, mark, size: found.size, idleMs: Date.now() - found.mtimeMs });
  }
  return parts;
}

async function takeOver(blob: string, parts: readonly Part[]): Promise<void> {
  const own = `${blob}.${processMark()}${ENDING}`;
  const [largest, ...others] = parts.toSorted((a, b) => b.size - a.size);
  // Whoever renames it first has it; the other begins anew.
  if (largest !== undefined && largest.size > (await sizeOf(own)))
    await rename(largest.path, own).catch(() => undefined);
  for (const { path } of others) await rm(path, { force: true });
}

/** One attempt to fetch what is missing. */
async function fetchRest(
  { settings, name, file, onBytes, signal }: BlobRequest,
  partial: string,
  progress: () => void,
): Promise<void> {
  const output = await open(partial, "a");
  try {
    let at = (await output.stat()).size;
    if (at > file.size) {
      await output.truncate(0);
      at = 0;
    }
    onBytes(at);
    if (at === file.size) return;
    const headers: Record<string, string> = at > 0 ? { range: `bytes=${at}-` } : {};
    const request = { method: "GET", url: file.url, headers, follow: "anywhere", signal } as const;
    await hubExchange(settings, request, async (response, alive) => {
      if (!(await continues(response, at, name, settings))) {
        await output.truncate(0);
        at = 0;
      }
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        if (at + chunk.length > file.size)
          throw new Interruption(`more than the ${file.size} bytes that were promised came`);
        await output.appendFile(chunk);
        at += chunk.length;
        alive();
        progress();
        onBytes(at);
      }
      if (at < file.size)
        throw new Interruption(`the connection was cut at byte ${at} of ${file.size}`);
    });
    await output.sync();
  } finally {
    await output.close();
  }
}

/** Whether an answer goes on where the file ends; false: it begins anew. */
async function continues(
  response: Response,
  at: number,
  name: HubName,
  settings: HubSettings,
): Promise<boolean> {
  const { status, headers } = response;
  if (status === 206) {
    if (headers.get("content-range")?.startsWith(`bytes ${at}-`) === true) return true;
    throw new Interruption(`another part came than byte ${at} onwards`);
  }
  if (status === 200) return at === 0;
  if (status === 401 || status === 403 || status === 404) throw refusal(response, name, settings);
  await response.body?.cancel();
  throw new Interruption(`status ${status}`);
}

function notAsPromised({ file, settings }: BlobRequest, what: string): ExternalError {
  return new ExternalError(
    "HUB_CHECKSUM",
    `${what}: came from ${settings.endpoint} twice with another content than promised (checksum ${file.checksum}). A proxy or mirror in between changes files: set HF_ENDPOINT to another one.`,
  );
}
