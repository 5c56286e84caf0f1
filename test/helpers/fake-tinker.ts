import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { decodeCall } from "../../src/engine/tinker/messages.ts";

/** A refusal: status 400 when the result is fetched. */
export interface Refusal {
  detail: string;
}

/** A call as the server received it; `lossFn` of a forward_backward, `body` of every other. */
export interface FakeCall {
  path: string;
  lossFn?: string;
  body: Record<string, unknown>;
}

/** What a server of the Tinker API does beyond the usual. */
export interface FakeServer {
  /** Gradient norms in the order of steps; the last one stays. */
  norms?: number[];
  /** Of the submitted call; null: it succeeds. */
  refuses?: (call: FakeCall) => Refusal | null;
  /** Reported by create_model. */
  created?: object;
}

/** A server of the Tinker API in protobuf, without a model: every log-probability is −1. Closed after the test. */
export async function fakeTinker({
  norms = [1],
  refuses = () => null,
  created = {},
}: FakeServer): Promise<{ url: string; calls: FakeCall[]; paths: () => string[] }> {
  const calls: FakeCall[] = [];
  const results = new Map<string, { status: number; body: object }>();
  const left = [...norms];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = (request.url ?? "").replace("/api/v1/", "");
      const { status, body } = answered(path, Buffer.concat(chunks));
      reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  const answered = (path: string, bytes: Buffer): { status: number; body: object } => {
    const json = bytes[0] === 0x7b ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {};
    if (path === "retrieve_future") return results.get(String(json["request_id"]))!;
    if (path === "get_server_capabilities")
      return { status: 200, body: { supported_models: [{ model_name: "tiny" }] } };
    if (path === "create_session") return { status: 200, body: { session_id: "s" } };
    const binary = path === "forward_backward" ? decodeCall(bytes) : null;
    const call = { path, body: json, ...(binary === null ? {} : { lossFn: binary.lossFn }) };
    calls.push(call);
    const refusal = refuses(call);
    const lengths = binary?.rows.map(({ tokens }) => tokens.length) ?? [];
    results.set(
      String(calls.length),
      refusal === null
        ? { status: 200, body: resultOf(path, lengths) }
        : { status: 400, body: refusal },
    );
    return { status: 200, body: { request_id: String(calls.length) } };
  };
  const resultOf = (path: string, lengths: readonly number[]): object => {
    if (path === "create_model") return { model_id: `m${calls.length}`, ...created };
    if (path === "save_weights") return { path: "tinker://m/weights/1" };
    if (path === "optim_step")
      return { metrics: { "skyrl.ai/grad_norm": left.length > 1 ? left.shift() : left[0] } };
    const outputs = lengths.map((length) => ({
      logprobs: { data: Array.from({ length }, () => -1) },
    }));
    return { loss_fn_outputs: outputs, metrics: {} };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, calls, paths: () => calls.map(({ path }) => path) };
}
