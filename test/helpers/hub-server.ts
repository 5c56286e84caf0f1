import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { localServer, sendJson, type LocalServer, type Received } from "./local-server.ts";

/** What a small hub can be told to do wrong. */
export interface Mischief {
  /** Ends the connection after so many bytes of a large file; once for each entry. */
  cuts?: number[];
  /** Sends so many bytes of a large file, and then nothing. */
  stalls?: number;
  /** Large files come with other bytes. */
  spoilt?: boolean;
  /** Answers a range with the whole file. */
  noRanges?: boolean;
  /** Status and reason of every answer. */
  refuses?: { status: number; reason?: string; path?: RegExp };
  /** Bytes that a large file is said to have. */
  claimedSize?: number;
  /** Statuses before the first proper answer. */
  stumbles?: number[];
}

export interface HubServer {
  hub: LocalServer;
  /** Another host, where large files lie. */
  storage: LocalServer;
  commit: string;
  mischief: Mischief;
}

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A hub with one model; files of a megabyte and more lie elsewhere, as large files do. */
export async function hubServer(
  repository: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<HubServer> {
  const mischief: Mischief = {};
  const isLarge = (content: Buffer): boolean => content.length >= LARGE;
  const storage = await localServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://x").pathname.slice(1));
    sendFile(request, response, files.get(name)!, mischief);
  });
  const hub = await localServer((request, response) => {
    const { refuses, stumbles } = mischief;
    const stumble = stumbles?.shift();
    if (stumble !== undefined) return void response.writeHead(stumble).end();
    if (refuses !== undefined && (refuses.path ?? /./).test(request.url)) {
      const reason = refuses.reason === undefined ? {} : { "x-error-code": refuses.reason };
      return void response
        .writeHead(refuses.status, reason)
        .end("No. " + String(request.headers.authorization));
    }
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    if (/^\/(api\/models\/)?old\/name\//.test(path)) {
      const to = request.url.replace("old/name", repository);
      return void response.writeHead(307, { location: to }).end();
    }
    const revision = /\/revision\/(.*)$/.exec(path)?.[1];
    if (path === `/api/models/${repository}/revision/${revision ?? ""}`) {
      if (!["main", "v1", "refs/pr/1", COMMIT].includes(revision ?? ""))
        return void response.writeHead(404, { "x-error-code": "RevisionNotFound" }).end();
      const siblings = [...files.keys()].map((rfilename) => ({ rfilename }));
      sendJson(response, { sha: COMMIT, siblings });
      return;
    }
    const file = path.split(`/${repository}/resolve/${COMMIT}/`)[1] ?? "";
    const content = files.get(file);
    if (content === undefined)
      return void response.writeHead(404, { "x-error-code": "RepoNotFound" }).end();
    if (!isLarge(content)) {
      response.setHeader("etag", `"${gitHash(content)}"`);
      sendFile(request, response, content, {});
      return;
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    response.writeHead(302, {
      location: `${storage.url}/${encodeURIComponent(file)}?Signature=secret`,
      etag: '"of the redirect"',
      "x-linked-etag": `"${sha256}"`,
      "x-linked-size": String(mischief.claimedSize ?? content.length),
    });
    response.end();
  });
  return { hub, storage, commit: COMMIT, mischief };
}

/** Bytes from which a file is a large one. */
export const LARGE = 2 ** 20;

export function gitHash(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

function sendFile(
  { method, headers }: Received,
  response: ServerResponse,
  content: Buffer,
  mischief: Mischief,
): void {
  const from =
    mischief.noRanges === true ? 0 : Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
  const body = mischief.spoilt === true ? Buffer.alloc(content.length) : content;
  const part = body.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, {
    "content-length": part.length,
    "content-range": from > 0 ? `bytes ${from}-${content.length - 1}/${content.length}` : undefined,
  });
  if (method === "HEAD") return void response.end();
  if (mischief.stalls !== undefined) return void response.write(part.subarray(0, mischief.stalls));
  const cut = mischief.cuts?.shift();
  if (cut === undefined) return void response.end(part);
  response.write(part.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
}
