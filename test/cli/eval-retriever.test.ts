import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { openIndex } from "../../src/retrieval/bm25/open-index.ts";
import { chatServer, lastMessage } from "../helpers/chat-server.ts";
import type { LocalServer } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { serveForTest } from "../helpers/serve.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
/** The question's own passage does not have the answer; the served index does. */
const question = {
  id: "q1",
  question: "Who founded the Bank of Ravos?",
  references: ["Ilmar Tesk"],
  annotations: { context: [{ id: "own", title: "Ravos", text: "The Bank of Ravos is old." }] },
};
let model: LocalServer;

beforeAll(async () => {
  writeFileSync(at("qa.jsonl"), JSON.stringify(question));
  writeFileSync(at("answers.jsonl"), JSON.stringify({ id: "q1", prediction: "Ilmar Tesk" }));
  await buildIndex(
    [{ id: "served", title: "Bank of Ravos", text: "It was founded by Ilmar Tesk." }],
    at("idx"),
  );
  model = await chatServer((asked) => {
    const last = lastMessage(asked);
    if (!last.includes("Doc 1")) return "<search>Bank of Ravos founder</search>";
    return `<answer>${last.includes("Ilmar Tesk") ? "Ilmar Tesk" : "unknown"}</answer>`;
  });
});

const run = (name: string, ...args: string[]) =>
  runCommand(
    commandNamed(name),
    [
      ...[name, "--policy", `${model.url}/v1`, "--model", "small"],
      ...["--dataset", at("qa.jsonl"), ...args],
    ],
    `${folder}/`,
  );

/** A retrieval server over the index, and its address. */
async function served() {
  const retriever = await openIndex(at("idx"));
  return { retriever, url: (await serveForTest(retriever)).url };
}

interface Results {
  metrics: { em: number };
  protocol: { retriever: string };
}

describe("agentrl eval --retriever", () => {
  it("searches the server at an address, whose index stands in the protocol", async () => {
    const { retriever, url } = await served();
    const without = JSON.parse((await run("eval", "--json")).stdout) as Results;
    expect(without.metrics.em).toBe(0);
    const { stdout, status } = await run("eval", "--retriever", url, "--json", "--out", at("ev"));
    expect(status).toBe(0);
    const { metrics, protocol } = JSON.parse(stdout) as Results;
    expect(metrics.em).toBe(1);
    expect(protocol.retriever).toBe(retriever.fingerprint);
    expect(readFileSync(at("ev/trajectories.jsonl"), "utf8")).toContain('"served"');
  });

  it("is kept in the folder's settings, and --resume asks nothing twice", async () => {
    const { url } = await served();
    expect((await run("eval", "--retriever", url, "--out", at("kept"))).status).toBe(0);
    const asked = model.received.length;
    const again = await run("eval", "--retriever", url, "--out", at("kept"), "--resume");
    expect([again.status, model.received.length]).toEqual([0, asked]);
    const resolved = readFileSync(at("kept/recipe.resolved.yaml"), "utf8");
    expect(resolved).toContain("name: search-r1-server");
    expect(resolved).toContain(url);
  });

  it("takes any other retriever as YAML, and replaces the recipe's own of evaluations", async () => {
    const of = `{ name: bm25, index: ${at("idx")} }`;
    const set = ["--set", "evaluation.retriever=none"];
    const { stdout, status } = await run("eval", "--retriever", of, ...set, "--json");
    expect(status).toBe(0);
    expect((JSON.parse(stdout) as Results).metrics.em).toBe(1);
  });

  it.each([
    [["--index", "idx", "--retriever", "http://127.0.0.1:8000"], "--index and --retriever are both given"], // prettier-ignore
    [["--retriever", "http://user:secret@host:8000"], "contains a user name, password or key"],
    [["--retriever", "{ name: bm25"], "--retriever: is not YAML"],
    [["--retriever", "bm52"], 'retriever is "bm52"; no such retriever. Did you mean "bm25"?'],
  ])("refuses %j", async (args, message) => {
    const { stderr, status } = await run("eval", ...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("secret");
    expect(status).toBe(2);
  });

  it("is refused where nothing searches: the answers are a file", async () => {
    const predictions = ["--policy", at("answers.jsonl"), "--retriever", "http://127.0.0.1:8000"];
    const { stderr, status } = await runCommand(
      commandNamed("eval"),
      ["eval", ...predictions, "--dataset", at("qa.jsonl")],
      `${folder}/`,
    );
    expect(stderr).toContain("--retriever would have no effect");
    expect(status).toBe(2);
  });

  it("says which server does not answer", async () => {
    const yaml = "{ name: search-r1-server, url: http://127.0.0.1:9, retries: 0 }";
    const { stderr, status } = await run("eval", "--retriever", yaml);
    expect(stderr).toMatch(/127\.0\.0\.1:9.*\[HTTP_UNREACHABLE\]/s);
    expect(status).toBe(4);
  });
});

it("agentrl ask --retriever searches the server, too", async () => {
  const { url } = await served();
  const { stdout, status } = await run("ask", question.question, "--retriever", url);
  expect([stdout, status]).toEqual(["Ilmar Tesk\n", 0]);
});
