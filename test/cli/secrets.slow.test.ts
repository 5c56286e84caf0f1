// Real commands with keys, at servers that quote the key in what they answer: no file and no output holds it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentrlProcess, runAgentrl, startAgentrl } from "../faults/agentrl-process.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

/** With characters that JSON, addresses and regular expressions write otherwise. */
const KEY = 'tml-Canary+/"9f3b\\71c2=';
const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const env = { AGENTRL_TEST_KEY: KEY };

/** The ways in which a text may hold the key. */
const FORMS = [
  ...[KEY, encodeURIComponent(KEY), JSON.stringify(KEY).slice(1, -1)],
  ...[Buffer.from(KEY).toString("base64"), KEY.slice(0, 12), KEY.slice(-10)],
];

/** What holds the key: files of a folder, and texts. */
function leaks(place: string, texts: Readonly<Record<string, string>> = {}): string[] {
  const files = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const all = [
    ...Object.entries(texts),
    ...files.map((file) => [file, readFileSync(file, "latin1")] as const),
  ];
  return all.filter(([, text]) => FORMS.some((form) => text.includes(form))).map(([name]) => name);
}

/** Runs a command in a folder of its own, and looks through everything that it leaves and says. */
async function ran(
  name: string,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<{ status: number | null; stderr: string; leaks: string[] }> {
  const cwd = at(name);
  mkdirSync(cwd, { recursive: true });
  const { status, stdout, stderr } = await runAgentrl([...args, "--debug"], {
    cwd,
    env: { ...env, HF_HOME: join(cwd, "hub"), ...more },
  });
  return { status, stderr, leaks: leaks(cwd, { stdout, stderr }) };
}

/** Answers with everything that the client sent. */
const echo = (status: number) =>
  localServer(({ headers }, response) => {
    const said = `you sent ${JSON.stringify(headers)}`;
    sendJson(response, { detail: said, error: { message: said }, message: said }, status);
  });

let engine: AgentrlProcess;
let engineUrl = "";
beforeAll(async () => {
  writeFileSync(
    at("questions.jsonl"),
    `${JSON.stringify({ question: "Which town?", references: ["Oslo"], prediction: "Oslo town" })}\n`,
  );
  writeFileSync(at("queries.jsonl"), `${JSON.stringify({ _id: "q", text: "Which town?" })}\n`);
  writeFileSync(at("qrels.tsv"), "query-id\tcorpus-id\tscore\nq\td\t1\n");
  mkdirSync(at("engine"));
  engine = startAgentrl(
    [
      ...["serve", "engine", "--policy", "base", "--data", "weights", "--max-models", "8"],
      ...["--port", "0", "--json", "--token-env", "AGENTRL_TEST_KEY", "--debug"],
      ...["--host", "0.0.0.0"],
    ],
    { cwd: at("engine"), env },
  );
  for (let n = 0; !engine.said().includes('{"url"') && n < 4000; n++)
    await new Promise((resolve) => setTimeout(resolve, 30));
  const { port } = new URL(/"url":"([^"]+)"/.exec(engine.said())?.[1] ?? "");
  engineUrl = `http://127.0.0.1:${port}`;
}, 600_000);
afterAll(async () => {
  engine.child.kill();
  await engine.ended;
});

function train(url: string, ...more: string[]): string[] {
  const sets = [
    ...["engine.name=tinker", `engine.url=${url}`, "engine.apiKeyEnv=AGENTRL_TEST_KEY"],
    ...["policy.lora={}", "algorithm.steps=1", "evaluation.dataset.questions=2"],
    ...["deadlines.engineSeconds=20", ...more],
  ].flatMap((set) => ["--set", set]);
  return ["train", "--recipe", "search-r1", "--tier", "smoke", "--out", "run", ...sets];
}

const evaluate = (url: string): string[] => [
  ...["eval", "--policy", `${url}/v1`, "--model", "m", "--api-key-env", "AGENTRL_TEST_KEY"],
  ...["--dataset", at("questions.jsonl"), "--question-field", "question"],
  ...["--answer-field", "references", "--strategy", "direct", "--out", "evaluation"],
  ...["--cache", "cache", "--set", "policy.endpoint.retries=0"],
];

const judge = (url: string): string[] => [
  ...["judge", "run", "--predictions", at("questions.jsonl"), "--endpoint", `${url}/v1`],
  ...["--model", "m", "--api-key-env", "AGENTRL_TEST_KEY", "--retries", "0", "--out", "judged"],
];

const search = (url: string): string[] => {
  const retriever = `{ name: search-r1-server, url: "${url}", apiKeyEnv: AGENTRL_TEST_KEY, retries: 0 }`;
  const files = ["--queries", at("queries.jsonl"), "--qrels", at("qrels.tsv")];
  return ["eval", "retrieval", ...files, "--retriever", retriever];
};

const REFUSED = "http://127.0.0.1:9";
const TIMES = { timeout: 600_000 };

describe("keys of servers", () => {
  it("the search through what is left finds a key in any form", () => {
    mkdirSync(at("planted"));
    for (const [i, form] of FORMS.entries()) writeFileSync(at("planted", `${i}.log`), `a ${form}.`);
    writeFileSync(at("planted", "clean.log"), "AGENTRL_TEST_KEY");
    expect(leaks(at("planted"), { stdout: `x${KEY}` })).toHaveLength(FORMS.length + 1);
  });

  it("a training run at a guarded server, client and server", TIMES, async () => {
    // Over an address of the network, where the machine has one: then the run warns.
    const { address: host = null } =
      Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === "IPv4" && !each.internal) ?? {};
    const url = host === null ? engineUrl : engineUrl.replace("127.0.0.1", host);
    const { status, stderr, leaks: found } = await ran("trained", train(url));
    expect(status, stderr).toBe(0);
    expect(readdirSync(at("trained", "run"))).toContain("manifest.json");
    const events = readFileSync(at("trained", "run", "events.jsonl"), "utf8");
    expect(events.includes("is reached without encryption")).toBe(host !== null);
    expect(found).toEqual([]);
    expect(leaks(at("engine"), { said: engine.said() })).toEqual([]);
  });

  it("a training run with a wrong key, which the server refuses", TIMES, async () => {
    const wrong = { AGENTRL_TEST_KEY: `${KEY}x` };
    const { status, stderr, leaks: found } = await ran("wrong", train(engineUrl), wrong);
    expect({ status, found }).toEqual({ status: 4, found: [] });
    expect(stderr).toContain("Missing or wrong API key");
    expect(leaks(at("engine"), { said: engine.said() })).toEqual([]);
  });

  it.each([
    ["train", (url: string) => train(url, "deadlines.engineSeconds=4")],
    ["eval", evaluate],
    ["judge", judge],
    ["eval retrieval", search],
  ] as const)("%s: refused connection, 401, 500, no JSON", TIMES, async (name, args) => {
    const servers = await Promise.all([
      ...[echo(401), echo(500)],
      localServer(({ headers }, response) => response.end(`no JSON: ${JSON.stringify(headers)}`)),
    ]);
    for (const [i, url] of [REFUSED, ...servers.map((server) => server.url)].entries()) {
      const run = await ran(`${name.replace(" ", "-")}-${i}`, args(url));
      expect({ case: i, status: run.status }, run.stderr).not.toMatchObject({ status: 0 });
      expect({ case: i, leaks: run.leaks }, run.stderr).toEqual({ case: i, leaks: [] });
      for (const { received } of servers.slice(i - 1, i))
        expect(JSON.stringify(received.map(({ headers }) => headers))).toContain("Canary");
    }
  }); // prettier-ignore

  it("an evaluation whose replies are cached", TIMES, async () => {
    const server = await chatServer(() => "<answer>Oslo</answer>");
    const { status, stderr, leaks: found } = await ran("cached", evaluate(server.url));
    expect(status, stderr).toBe(0);
    expect(readdirSync(at("cached", "cache")).length).toBeGreaterThan(0);
    expect(found).toEqual([]);
  });

  it("the hub's token and a proxy's password", TIMES, async () => {
    const hub = await echo(500);
    const named = ["eval", "--policy", "someone/model", "--limit", "1"];
    const token = await ran("hub", named, { HF_ENDPOINT: hub.url, HF_TOKEN: KEY });
    expect(token.status).not.toBe(0);
    expect(JSON.stringify(hub.received[0]?.headers)).toContain("Canary");
    expect(token.leaks).toEqual([]);
    const HTTP_PROXY = `http://user:${encodeURIComponent(KEY)}@127.0.0.1:9`;
    const proxied = await ran("proxy", named, { HF_ENDPOINT: "http://hub.test", HTTP_PROXY });
    expect(proxied.status).not.toBe(0);
    expect(proxied.leaks).toEqual([]);
  });
});
