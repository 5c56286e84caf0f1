// A server of its own process, and clients that never pause and ask in random words: half of them words of the index, half of no language.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { random } from "../../dist/base/random.js";
import { agentrl, startServing } from "../serve/server.mjs";

const PASSAGES = 50_000;
const VOCABULARY = 300_000;
const PASSAGE_WORDS = 80;
const QUERY_WORDS = 8;

export async function startServed(kind, { work, clients }) {
  const server =
    kind === "serve"
      ? await startServing(["--index", await madeIndex(work)])
      : await startServing(["policy"]);
  const seen = { requests: 0, statuses: {} };
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let going = true;
  const client = async (number) => {
    const draw = random(`client ${number}`);
    while (going) {
      const text = Array.from({ length: QUERY_WORDS }, () =>
        draw.next() < 0.5 ? word(rank(draw)) : draw.int(2 ** 32).toString(36),
      ).join(" ");
      const [path, body] =
        kind === "serve"
          ? ["/retrieve", { queries: [text] }]
          : [
              "/v1/chat/completions",
              { messages: [{ role: "user", content: text }], max_tokens: 8 },
            ];
      const status = await ask(server.url + path, agent, body);
      seen.requests += 1;
      seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, i) => client(i)));
  return {
    pid: server.pid,
    ended: server.ended,
    progress: () => seen.requests,
    async stop() {
      going = false;
      await running;
      agent.destroy();
      return { status: await server.stop(), statuses: seen.statuses };
    },
  };
}

/** An index of made passages whose words follow Zipf's law. */
async function madeIndex(work) {
  const corpus = join(work, "corpus.jsonl");
  const out = createWriteStream(corpus);
  const draw = random("soak corpus");
  for (let id = 0; id < PASSAGES; id++) {
    const text = Array.from({ length: PASSAGE_WORDS }, () => word(rank(draw))).join(" ");
    if (!out.write(`${JSON.stringify({ id: String(id), title: word(id), text })}\n`))
      await once(out, "drain");
  }
  out.end();
  await once(out, "close");
  await agentrl("index", "build", corpus, "--out", join(work, "index"));
  return join(work, "index");
}

function rank(draw) {
  return Math.floor(VOCABULARY ** draw.next());
}

function word(number) {
  return `w${(Math.imul(number, 2_654_435_761) >>> 0).toString(36)}`;
}

/** @returns the status, or the code of the failure. */
function ask(url, agent, value) {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const failed = (error) => resolve(error.code ?? error.message);
    const sent = request(url, { method: "POST", agent, headers }, (reply) => {
      reply
        .resume()
        .on("end", () => resolve(reply.statusCode))
        .on("error", failed);
    });
    sent.on("error", failed);
    sent.end(body);
  });
}
