import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { exists, makeFolder, sizeOf, sha256File } from "../base/files.ts";
import { isAlive, processMark } from "../base/process-mark.ts";
import { Interruption, transfer, type TransferSettings, withRetries } from "./transfer.ts";

/** What a download's failures are called by whoever asked for it. */
export interface DownloadProblems {
  /** No attempt brought anything. */
  unreachable(last: Interruption, attempts: number): Error;
  /** It came twice with another content than promised. */
  changed(): Error;
  /** The server answered 401, 403 or 404. */
  refused(response: Response): Error;
}

/** One file to be downloaded. */
interface DownloadRequest {
  settings: TransferSettings;
  url: URL;
  /** Bytes; null where the server does not tell. */
  size: number | null;
  /** Where the whole file goes. */
  path: string;
  /**
   * Part of the names of files that are not whole yet: what was left of another version is not gone on with. Absent where the path
   * itself names the content.
   */
  version?: string;
  /** Whether a file is the one that was promised; null when nothing says so. */
  isPromised: (path: string) => Promise<boolean | null>;
  problems: DownloadProblems;
  /** Bytes of the file that are here; may fall when a download begins anew. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

interface UnderWay {
  work: Promise<void>;
  /** `onBytes` of all who want the file. */
  listeners: DownloadRequest["onBytes"][];
}

/** Downloads under way in this process, by their path: several may want the same file. */
const underWay = new Map<string, UnderWay>();

/**
 * Downloads one file, once: what an ended process has left of it is gone on with, what another one is loading is waited for, and
 * the file takes its place only when it is whole and as promised.
 *
 * @throws what `problems` makes of it, and as the disk does.
 */
export async function downloadFile(request: DownloadRequest): Promise<void> {
  const { path, onBytes } = request;
  const known = underWay.get(path);
  if (known !== undefined) {
    known.listeners.push(onBytes);
    return known.work;
  }
  const listeners = [onBytes];
  const tellAll = (bytes: number): void => {
    for (const listener of listeners) listener(bytes);
  };
  const work = download({ ...request, onBytes: tellAll }).finally(() => underWay.delete(path));
  underWay.set(path, { work, listeners });
  return work;
}

async function download(request: DownloadRequest): Promise<void> {
  const { path, problems, settings, signal } = request;
  await makeFolder(dirname(path));
  if (await loadedByOther(request)) return;
  const partial = `${partBase(request)}.${processMark()}${ENDING}`;
  const givenUp = (last: Interruption, attempts: number): Error =>
    problems.unreachable(last, attempts);
  for (let attempt = 1; ; attempt++) {
    let furthest = 0;
    await withRetries(settings, { givenUp, signal }, (progress) =>
      fetchRest(request, partial, (at) => {
        // What comes once more, from a server without ranges or of another size than promised, brings nothing.
        if (at <= furthest) return;
        furthest = at;
        progress();
      }),
    );
    if ((await request.isPromised(partial)) !== false) break;
    await rm(partial, { force: true });
    // What an earlier run left may have been wrong; a file that came whole from here is not asked for again and again.
    if (attempt === 2) throw problems.changed();
  }
  await rename(partial, path);
}

function partBase({ path, version }: DownloadRequest): string {
  return version === undefined ? path : `${path}.${version}`;
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
async function loadedByOther(request: DownloadRequest): Promise<boolean> {
  const { path, signal, onBytes } = request;
  const base = partBase(request);
  for (;;) {
    if (await exists(path)) return true;
    const parts = await partsOf(base);
    const busy = parts.find(({ mark, idleMs }) => isAlive(mark) && idleMs < IDLE_MS);
    if (busy === undefined) {
      await takeOver(
        base,
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

/** Parts of a file that other processes have written. */
async function partsOf(base: string): Promise<Part[]> {
  const start = `${basename(base)}.`;
  const parts: Part[] = [];
  for (const entry of await readdir(dirname(base))) {
    if (!entry.startsWith(start) || !entry.endsWith(ENDING)) continue;
    const mark = entry.slice(start.length, -ENDING.length);
    // Without a mark it is another program's; with our own, what an earlier attempt of this process left.
    if (mark === "" || mark === processMark()) continue;
    const path = join(dirname(base), entry);
    const found = await stat(path).catch(() => null);
    if (found !== null)
      parts.push({ path, mark, size: found.size, idleMs: Date.now() - found.mtimeMs });
  }
  return parts;
}

async function takeOver(base: string, parts: readonly Part[]): Promise<void> {
  const own = `${base}.${processMark()}${ENDING}`;
  const [largest, ...others] = parts.toSorted((a, b) => b.size - a.size);
  // Whoever renames it first has it; the other begins anew.
  if (largest !== undefined && largest.size > (await sizeOf(own)))
    await rename(largest.path, own).catch(() => undefined);
  for (const { path } of others) await rm(path, { force: true });
}

/** One attempt to fetch what is missing. @param reached is told how many bytes of the file have come. */
async function fetchRest(
  { settings, url, size: promised, problems, onBytes, signal }: DownloadRequest,
  partial: string,
  reached: (at: number) => void,
): Promise<void> {
  const output = await open(partial, "a");
  try {
    let at = (await output.stat()).size;
    const beginAnew = async (): Promise<void> => {
      await output.truncate(0);
      at = 0;
    };
    if (promised !== null && at > promised) await beginAnew();
    onBytes(at);
    if (at === promised) return;
    const headers: Record<string, string> = at > 0 ? { range: `bytes=${at}-` } : {};
    const request = { method: "GET", url, headers, follow: "anywhere", signal } as const;
    await transfer(settings, request, async (response, alive) => {
      if (response.status === 416 && promised === null) {
        if (totalOf(response) === at) return;
        await beginAnew();
        throw new Interruption("the file became shorter");
      }
      if (!(await continues(response, at, problems))) await beginAnew();
      const size = promised ?? totalOf(response);
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        if (size !== null && at + chunk.length > size)
          throw new Interruption(`more than the ${size} bytes that were promised came`);
        await output.appendFile(chunk);
        at += chunk.length;
        alive();
        reached(at);
        onBytes(at);
      }
      if (size !== null && at < size)
        throw new Interruption(`the connection was cut at byte ${at} of ${size}`);
    });
    await output.sync();
  } finally {
    await output.close();
  }
}

/** Bytes of the whole file, as an answer tells them; null when it does not. */
function totalOf({ status, headers }: Response): number | null {
  const range = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const text = status === 200 ? headers.get("content-length") : range;
  return text === null || text === undefined ? null : Number(text);
}

/** Whether an answer goes on where the file ends; false: it begins anew. */
async function continues(
  response: Response,
  at: number,
  problems: DownloadProblems,
): Promise<boolean> {
  const { status, headers } = response;
  if (status === 206) {
    if (headers.get("content-range")?.startsWith(`bytes ${at}-`) === true) return true;
    throw new Interruption(`another part came than byte ${at} onwards`);
  }
  if (status === 200) return at === 0;
  if (status === 401 || status === 403 || status === 404) throw problems.refused(response);
  await response.body?.cancel();
  throw new Interruption(`status ${status}`);
}

/** What a server's headers promise of a file. */
export interface Promised {
  /** Bytes; null where they are not told. */
  size: number | null;
  /** SHA-256 of a large file of the hub, Git's SHA-1 of a small one, or a server's own tag; empty where there is none. */
  tag: string;
}

/** Reads size and tag; the hub answers for a large file with a redirect, and describes what is linked by headers of its own. */
export function promisedBy(headers: Headers): Promised {
  const tag = headers.get("x-linked-etag") ?? headers.get("etag") ?? "";
  const size = Number(headers.get("x-linked-size") ?? headers.get("content-length") ?? NaN);
  return {
    size: Number.isSafeInteger(size) ? size : null,
    tag: tag.replace(/^W\//, "").replaceAll('"', ""),
  };
}

/** Whether a file on disk is the one that was promised, by its checksum; null when the tag is none that says so. */
export async function isAsPromised(path: string, tag: string): Promise<boolean | null> {
  if (/^[0-9a-f]{64}$/.test(tag)) return (await sha256File(path)) === tag;
  if (/^[0-9a-f]{40}$/.test(tag)) return (await gitHash(path)) === tag;
  return null;
}

/** Git's name of a file's content. */
async function gitHash(path: string): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
