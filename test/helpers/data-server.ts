import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { localServer, type LocalServer, type Received } from "./local-server.ts";

/** What a small file server can be told to do wrong. */
export interface DataMischief {
  /** Ends the connection after so many bytes; once for each entry. */
  cuts?: number[];
  /** Sends so many bytes, and then nothing. */
  stalls?: number;
  /** Files come with other bytes. */
  spoilt?: boolean;
  /** Answers a range with the whole file. */
  noRanges?: boolean;
  /** Tells no size: pieces without a length. */
  noSizes?: boolean;
  /** Status of every answer, or of those to HEAD. */
  refuses?: { status: number; method?: string };
  /** Bytes that each file is said to have. */
  claimedSize?: number;
  /** Statuses before the first proper answer. */
  stumbles?: number[];
  /** Seconds that it then asks to wait. */
  retryAfter?: number;
}

/** A server of files under `/host/path`, as a mirror of AGENTRL_DATA_URL; `/hub` paths are the hub's, large files lie elsewhere. */
export async function dataServer(files: Map<string, Buffer>): Promise<{
  server: LocalServer;
  /** Another host, to which the hub redirects. */
  storage: LocalServer;
  mischief: DataMischief;
}> {
  const mischief: DataMischief = {};
  const storage = await localServer((request, response) => {
    send(request, response, files.get(pathOf(request))!, mischief);
  });
  const server = await localServer((request, response) => {
    const stumble = mischief.stumbles?.shift();
    const { retryAfter } = mischief;
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    if (stumble !== undefined) return void response.writeHead(stumble, headers).end();
    const { refuses } = mischief;
    if (refuses !== undefined && (refuses.method ?? request.method) === request.method)
      return void response.writeHead(refuses.status).end();
    const path = pathOf(request);
    const content = files.get(path);
    if (content === undefined) return void response.writeHead(404).end();
    if (path.startsWith("/datasets/")) {
      const sha256 = createHash("sha256").update(content).digest("hex");
      response.writeHead(302, {
        location: `${storage.url}${path}?Signature=secret`,
        "x-linked-etag": `"${sha256}"`,
        "x-linked-size": String(content.length),
      });
      return void response.end();
    }
    send(request, response, content, mischief);
  });
  return { server, storage, mischief };
}

function pathOf({ url }: Received): string {
  return decodeURIComponent(new URL(url, "http://x").pathname);
}

function send(
  { method, headers }: Received,
  response: ServerResponse,
  content: Buffer,
  mischief: DataMischief,
): void {
  const { noRanges, noSizes, spoilt, claimedSize, stalls } = mischief;
  const asked = /^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0;
  const from = noRanges === true ? 0 : Number(asked);
  const body = spoilt === true ? Buffer.alloc(content.length, " ") : content;
  if (from >= content.length && from > 0) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` });
    return void response.end();
  }
  const part = body.subarray(from);
  const length = method === "HEAD" ? (claimedSize ?? part.length) : part.length;
  response.writeHead(from > 0 ? 206 : 200, {
    etag: 'W/"a tag"',
    "content-length": noSizes === true ? undefined : length,
    "content-range": from > 0 ? `bytes ${from}-${content.length - 1}/${content.length}` : undefined,
  });
  if (method === "HEAD") return void response.end();
  if (stalls !== undefined) return void response.write(part.subarray(0, stalls));
  const cut = mischief.cuts?.shift();
  if (cut === undefined) return void response.end(part);
  response.write(part.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
}
