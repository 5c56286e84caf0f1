/** OpenAI's API over a run's own policy, on this machine alone. The API key of a request says which agent sends it. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerOpenAi, type OpenAiApi } from "../served/openai-api.ts";
import { errorBody, ServedError } from "../served/served-error.ts";

export interface AgentEndpoint {
  readonly url: string;
  newKey(): string;
  /** Answers the requests of a key from now on; null: refuses them. */
  assign(key: string, serving: Serving | null): void;
  keepAlive(isNeeded: boolean): void;
  close(): void;
}

/** What an agent is served during one rollout. */
export interface Serving {
  api: OpenAiApi;
  /** Receives a failure of the policy, which is the run's and not the agent's. */
  onFailure: (error: unknown) => void;
}

const BODY_LIMIT = 4 * 2 ** 20;

export async function openAgentEndpoint(): Promise<AgentEndpoint> {
  const served = new Map<string, Serving | null>();
  const server = createServer((request, response) => {
    void respond(request, response, served);
  });
  // Agents wait between steps; their sockets must neither end nor keep this process running.
  server.keepAliveTimeout = 600_000;
  server.on("connection", (socket) => socket.unref());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    newKey: () => `agentrl-${randomBytes(16).toString("hex")}`,
    assign(key, serving) {
      served.set(key, serving);
    },
    keepAlive(isNeeded) {
      if (isNeeded) server.ref();
      else server.unref();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  served: ReadonlyMap<string, Serving | null>,
): Promise<void> {
  const [, key = ""] = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "") ?? [];
  const serving = served.get(key);
  try {
    if (serving === undefined) throw new ServedError(401, "Wrong API key: use OPENAI_API_KEY.");
    const body = await bodyOf(request);
    if (serving === null) throw new ServedError(403, "The agent has no question to answer now.");
    const [path = ""] = (request.url ?? "").split("?");
    const reply = await answerOpenAi(serving.api, request.method ?? "", path, body);
    if ("events" in reply) send(response, 200, "text/event-stream", reply.events);
    else send(response, reply.status, "application/json", JSON.stringify(reply.json));
  } catch (error) {
    if (!(error instanceof ServedError)) serving?.onFailure(error);
    const refused = error instanceof ServedError ? error : new ServedError(500, "The policy failed."); // prettier-ignore
    send(response, refused.status, "application/json", JSON.stringify(errorBody(refused)));
  }
}

/** @throws {ServedError} 400, 413 */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT) throw new ServedError(413, `The body has more than ${BODY_LIMIT} bytes.`); // prettier-ignore
    chunks.push(chunk);
  }
  if (bytes === 0) return null;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw new ServedError(400, "The body is not JSON.");
  }
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { "content-type": type }).end(text);
}
