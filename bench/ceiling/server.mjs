// A server of the Tinker API and of Search-R1's POST /retrieve that answers at once, in a process of its own. It draws nothing and learns
// nothing: messages are those of a script, and log-probabilities are a function of the token.
//
//   node bench/ceiling/server.mjs SCRIPT.json        sends its address over IPC
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";

const { encodeSample, PROTOBUF } = await import("../../dist/engine/tinker/messages.js");
const { ProtobufWriter, protobufFields } = await import("../../dist/engine/tinker/protobuf.js");

const script = JSON.parse(await readFile(process.argv[2], "utf8"));
/** Searches before the answer. */
const SEARCHES = 4;
const SHOWN = 3;

const logprobOf = (id) => -((id % 97) + 1) / 50;
const sampleOf = (tokens) =>
  Buffer.from(
    encodeSample({
      sequences: [{ tokens, logprobs: tokens.map(logprobOf), stopReason: "stop" }],
      promptLogprobs: null,
    }),
  );
const samples = Object.fromEntries(
  ["searches", "right", "wrong"].map((kind) => [kind, script[kind].map(sampleOf)]),
);
const marker = Buffer.from(`,${script.marker},`);
const seedKey = Buffer.from('"seed":');
const passages = script.passages.map((text, i) => ({
  document: { id: `p${i}`, contents: `"Passage ${i}"\n${text}` },
  score: 1,
}));

const counts = { requests: 0, connections: 0, calls: {}, rows: 0, tokens: 0 };
const sockets = new Set();
let mostOpen = 0;
const closed = { read: 0, written: 0 };
/** Results that are fetched once, by request id. */
const results = new Map();
let next = 0;

const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    counts.requests += 1;
    const path = request.url.replace("/api/v1", "");
    const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    if (path === "/stats") return sendJson(response, stats());
    counts.calls[path] = (counts.calls[path] ?? 0) + 1;
    (routes[path] ?? notFound)(response, body);
  });
});
server.on("connection", (socket) => {
  counts.connections += 1;
  sockets.add(socket);
  mostOpen = Math.max(mostOpen, sockets.size);
  socket.on("close", () => {
    sockets.delete(socket);
    closed.read += socket.bytesRead;
    closed.written += socket.bytesWritten;
  });
});
// As uvicorn, on which most such servers run: 5 s, and no header that says so.
server.keepAliveTimeout = 5000;
server.listen(0, "127.0.0.1", () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.on("disconnect", () => process.exit());

const routes = {
  "/health": (response) => sendJson(response, { status: "ok" }),
  "/retrieve": (response, body) => {
    const { queries } = JSON.parse(body);
    const of = (query) => {
      const at = hashOf(query);
      return Array.from({ length: SHOWN }, (_, i) => passages[(at + i) % passages.length]);
    };
    sendJson(response, { result: queries.map(of) });
  },
  "/get_server_capabilities": (response) =>
    sendJson(response, { supported_models: [{ model_name: "stub" }] }),
  "/create_session": (response) => sendJson(response, { session_id: "s" }),
  "/session_heartbeat": (response) => sendJson(response, { type: "session_heartbeat" }),
  "/create_model": (response) => later(response, { model_id: `m${next++}` }),
  "/optim_step": (response) => later(response, { metrics: { grad_norm: 1 } }),
  "/save_weights": (response) => later(response, { path: `tinker://m/weights/w${next++}` }),
  "/load_weights": (response) => later(response, { type: "load_weights" }),
  "/unload_model": (response) => later(response, { type: "unload_model" }),
  "/save_weights_for_sampler": (response, body) => {
    const { path } = JSON.parse(body);
    const named = path === undefined ? null : `tinker://m/sampler_weights/${path}`;
    later(response, { path: named, sampling_session_id: path === undefined ? "d" : null });
  },
  "/asample": (response, body) => sendJson(response, { request_id: drawnBy(body) }),
  "/forward_backward": (response, body) => later(response, scored(body)),
  "/retrieve_future": (response, body) => {
    const { request_id: id } = JSON.parse(body);
    const [kind, number] = id.split("-");
    const result = samples[kind]?.[number] ?? results.get(id);
    results.delete(id);
    if (result instanceof Uint8Array) send(response, PROTOBUF, result);
    else sendJson(response, result);
  },
};

function notFound(response) {
  response.writeHead(404, { "content-type": "application/json" });
  response.end('{"detail":"Not Found"}');
}

/** Which message of the script follows a prompt; the body is not parsed, so that the client has the machine. */
function drawnBy(body) {
  let turn = 0;
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker, at + 1)) turn += 1;
  const at = body.indexOf(seedKey) + seedKey.length;
  const seed = Number.parseInt(body.toString("latin1", at, at + 12), 10);
  const kind = turn < SEARCHES ? "searches" : seed % 3 === 0 ? "right" : "wrong";
  counts.tokens += script[kind][seed % script[kind].length].length;
  return `${kind}-${seed % script[kind].length}`;
}

/** The reply to forward_backward: each row's log-probabilities of its targets. */
function scored(body) {
  const columns = [];
  for (const [field, value] of protobufFields(body))
    if (field === 3) columns.push(logprobsOf(value));
  counts.rows += columns.length;
  const data = Buffer.concat(columns);
  let end = 0;
  const ends = columns.map((column) => BigInt((end += column.length)));
  const tensor = new ProtobufWriter()
    .bytes(1, data)
    .bytes(2, BigInt64Array.from([0n, ...ends]))
    .int(3, 1);
  const record = new ProtobufWriter()
    .message(2, new ProtobufWriter().text(1, "logprobs").message(2, tensor))
    .int(3, columns.length);
  return new ProtobufWriter().text(1, "ArrayRecord").message(2, record).finish();
}

function logprobsOf(row) {
  for (const [field, entry] of protobufFields(row)) {
    if (field !== 2) continue;
    const [[, key], [, tensor]] = [...protobufFields(entry)];
    if (key.length !== 13) continue; // target_tokens
    const [[, bytes]] = [...protobufFields(tensor)];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const column = new Float32Array(bytes.length / 8);
    for (let i = 0; i < column.length; i++) column[i] = logprobOf(view.getInt32(8 * i, true));
    return new Uint8Array(column.buffer);
  }
  throw new Error("a row without target_tokens");
}

function later(response, result) {
  const id = `r-${next++}`;
  results.set(id, result);
  sendJson(response, { request_id: id });
}

function stats() {
  const bytes = { ...closed };
  for (const { bytesRead, bytesWritten } of sockets) {
    bytes.read += bytesRead;
    bytes.written += bytesWritten;
  }
  return { ...counts, bytes, mostOpen };
}

function hashOf(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}

function sendJson(response, value) {
  send(response, "application/json", Buffer.from(JSON.stringify(value)));
}

function send(response, type, body) {
  const head = { "content-type": type, "content-length": body.length, connection: "keep-alive" };
  response.writeHead(200, head);
  response.end(body);
}
