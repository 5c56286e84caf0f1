// An OpenAI-compatible server that answers at once, in a process of its own: a conversation's first messages search, the one
// after `searches` answers. It counts the assistant's messages of a chat, or the searches in a text, so it needs no memory.
//
//   node bench/evaluation/endpoint.mjs [--port 0] [--searches 3] [--delay-ms 0]      prints its address; asked with IPC, sends it
import { createServer } from "node:http";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    searches: { type: "string", default: "3" },
    "delay-ms": { type: "string", default: "0" },
  },
});
const searches = Number(values.searches);
const delayMs = Number(values["delay-ms"]);
/** Requests so far, and when the first and the last came, in milliseconds. */
const counts = { requests: 0, connections: 0, firstMs: null, lastMs: null };

const server = createServer((request, response) => {
  if (request.method === "GET") return sendJson(response, infoOf(request.url));
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    counts.requests += 1;
    counts.lastMs = performance.now();
    counts.firstMs ??= counts.lastMs;
    const body = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    const send = () => reply(response, request.url.endsWith("/chat/completions"), body);
    if (delayMs > 0) setTimeout(send, delayMs);
    else send();
  });
});
server.on("connection", () => (counts.connections += 1));
server.keepAliveTimeout = 60_000;
server.listen(Number(values.port), "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  if (process.send === undefined) console.log(url);
  else process.send({ url });
});
process.on("disconnect", () => process.exit());

function infoOf(url) {
  if (url.endsWith("/stats")) return counts;
  return { object: "list", data: [{ id: "instant", object: "model" }] };
}

function reply(response, isChat, body) {
  const turn = isChat ? turnsOf(body.messages) : body.prompt.split("</information>").length - 1;
  const { text, stopped } = cut(turn < searches ? search(body, isChat) : ANSWER, body.stop);
  const usage = { prompt_tokens: 300, completion_tokens: 12, total_tokens: 312 };
  const finish_reason = "stop";
  if (body.stream === true) return stream(response, isChat, { text, finish_reason, usage });
  const said = isChat ? { message: { role: "assistant", content: text } } : { text };
  sendJson(response, {
    ...{ id: "x", object: isChat ? "chat.completion" : "text_completion", created: 0 },
    ...{ model: body.model, choices: [{ index: 0, ...said, finish_reason, stop_reason: stopped }] },
    usage,
  });
}

const ANSWER = "<think>That is all.</think>\n<answer>Oslo</answer>";

function turnsOf(messages) {
  return messages.reduce((count, { role }) => count + (role === "assistant" ? 1 : 0), 0);
}

/** Some words of what was said last, so that searches differ. */
function search({ messages, prompt }, isChat) {
  const said = isChat ? messages.at(-1).content : prompt;
  const words = said.slice(-400).match(/[\p{L}\p{N}]+/gu) ?? ["nothing"];
  return `<think>I look it up.</think>\n<search>${words.slice(-6).join(" ")}</search>`;
}

/** As servers do: the text before the first stop string. */
function cut(text, stops) {
  const found = [stops ?? []].flat().flatMap((stop) => {
    const at = text.indexOf(stop);
    return at < 0 ? [] : [{ at, stop }];
  });
  if (found.length === 0) return { text, stopped: null };
  const first = found.reduce((a, b) => (b.at < a.at ? b : a));
  return { text: text.slice(0, first.at), stopped: first.stop };
}

function stream(response, isChat, { text, finish_reason, usage }) {
  const event = (choices, more = {}) =>
    `data: ${JSON.stringify({ id: "x", choices, ...more })}\n\n`;
  const words = text.match(/\S*\s*/g).filter((word) => word !== "");
  const piece = (word) => (isChat ? { delta: { content: word } } : { text: word });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    words.map((word) => event([{ index: 0, ...piece(word), finish_reason: null }])).join("") +
      event([{ index: 0, ...piece(""), finish_reason }]) +
      event([], { usage }) +
      "data: [DONE]\n\n",
  );
}

function sendJson(response, value) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
