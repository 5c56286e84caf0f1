import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Random, random } from "../../src/base/random.ts";
import { localServer } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");
const indexCommand = commandNamed("index");

/**
 * Changed replies of a chat server, a question each. The text that the reply holds decides: as it was sent, the answer is right; without a
 * text, the question is wrong or not measured; in half a reply, it is not measured. `outcomes` are those that are allowed.
 */
type Outcome = "right" | "wrong" | "error";
interface Changed {
  what: string;
  type: string;
  body: string;
  outcomes: readonly Outcome[];
}

const CASES = 100;
const TEXT = "<think>It is Oslo.</think><answer>Oslo</answer>";
const JUNK = [null, "", 0, -1, 2 ** 60, 0.5, [], {}, "junk", true, [null], { a: 1 }, [[1]]];

const REPLY = {
  id: "x",
  object: "chat.completion",
  created: 1,
  model: "m",
  system_fingerprint: "f",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: TEXT,
        refusal: null,
        reasoning_content: "hm",
        reasoning: null,
        annotations: [],
        audio: null,
      },
      logprobs: { content: [{ token: "a", logprob: -1 }] },
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 8, details: { cached_tokens: 1 } },
};
const ERRORS = [
  { error: { message: "boom", code: 500 } },
  { error: "boom" },
  { object: "error", message: "boom" },
  { detail: "boom" },
  { detail: [{ msg: "boom" }] },
  { message: "boom" },
];

/** Paths that hold the text; whatever else is changed, the answer stays. */
const NEEDED = ["choices", "choices.0", "choices.0.message", "choices.0.message.content"];

const pick = <T>(from: readonly T[], draw: Random): T =>
  from[Math.floor(draw.next() * from.length)]!;

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [
    [...path, key],
    ...pathsIn(each, [...path, key]),
  ]);
}

/** One value replaced or removed. @returns its path. */
function changeOne(value: object, draw: Random): string {
  const path = pick(pathsIn(value), draw);
  let at = value as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  const key = path.at(-1) ?? "";
  if (draw.next() < 0.2 && !Array.isArray(at)) Reflect.deleteProperty(at, key);
  else at[key] = pick(JUNK, draw);
  return path.join(".");
}

/** A byte replaced, or the rest cut off. */
function changeBytes(text: string, draw: Random): string {
  const at = Math.floor(draw.next() * text.length);
  if (draw.next() < 0.5) return text.slice(0, at);
  return `${text.slice(0, at)}${pick(["}", '"', "\\", "\n", "[", "é", "\u0000"], draw)}${text.slice(at + 1)}`;
}

/** What a reply says, by the shape that every server has. */
function outcomesOf(body: string): readonly Outcome[] {
  let reply: { choices?: { message?: { content?: unknown } }[] } | null;
  try {
    reply = JSON.parse(body) as typeof reply;
  } catch {
    return ["error"];
  }
  const content = reply?.choices?.[0]?.message?.content;
  if (typeof content !== "string") return ["wrong", "error"];
  return content.endsWith("<answer>Oslo</answer>") ? ["right", "error"] : ["wrong", "error"];
}

function changedJson(draw: Random): Changed {
  const type = draw.next() < 0.8 ? "application/json" : pick(["text/plain", "", "text/html"], draw);
  const reply = structuredClone(REPLY);
  const kind = draw.next();
  if (kind < 0.15) {
    const body = JSON.stringify(pick(ERRORS, draw));
    return { what: body, type, body, outcomes: ["error"] };
  }
  if (kind < 0.4) {
    const body = changeBytes(JSON.stringify(reply), draw);
    return { what: `bytes: ${body}`, type, body, outcomes: outcomesOf(body) };
  }
  const path = changeOne(reply, draw);
  const body = JSON.stringify(reply);
  const outcomes = NEEDED.includes(path) ? outcomesOf(body) : (["right"] as const);
  return { what: `${path}: ${body}`, type, body, outcomes };
}

function changedStream(draw: Random): Changed {
  const piece = (delta: object, finish: string | null = null) => ({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    usage: null as unknown,
  });
  const texts = TEXT.match(/[^]{1,9}/g) ?? [];
  const pieces: object[] = [
    piece({ role: "assistant", content: "", reasoning_content: null }),
    ...texts.map((content) => piece({ content })),
    { ...piece({}, "stop"), usage: REPLY.usage },
  ];
  const type = "text/event-stream";
  const ending = pick(["\n\n", "\r\n\r\n", "\r\r", "\n: ping\n\n"], draw);
  const written = (lines: readonly string[]) =>
    lines.map((line) => `data: ${line}${ending}`).join("");
  const lines = () => pieces.map((each) => JSON.stringify(each));
  const kind = draw.next();
  if (kind < 0.2) {
    const error = pick(ERRORS, draw);
    const at = Math.floor(draw.next() * pieces.length);
    pieces.splice(at, 0, error);
    return { what: `${JSON.stringify(error)} at ${at}`, type, body: written(lines()), outcomes: ["error"] }; // prettier-ignore
  }
  if (kind < 0.5) {
    const whole = written(lines());
    const end = whole.indexOf('"finish_reason":"stop"');
    const body = whole.slice(0, Math.floor(draw.next() * end));
    return { what: `cut: ${body}`, type, body, outcomes: ["error"] };
  }
  if (kind < 0.6) {
    // No piece says why it ended, and nothing says that it did.
    const finish = pick(["", 0, null, {}], draw);
    const open = pieces.slice(0, -1).concat({ choices: [{ delta: {}, finish_reason: finish }] });
    const body = written(open.map((each) => JSON.stringify(each)));
    return { what: `no end: ${body}`, type, body, outcomes: ["error"] };
  }
  // A piece that holds no text.
  const at = pick([0, pieces.length - 1], draw);
  const path = changeOne(pieces[at] as object, draw);
  const body = written([...lines(), "[DONE]"]);
  const isText = /^choices(\.0(\.(delta(\.content)?|index))?)?$/.test(path);
  return {
    what: `${path}: ${body}`,
    type,
    body,
    outcomes: isText ? ["right", "error"] : ["right"],
  };
}

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
let cases: readonly Changed[] = [];
const GOOD = JSON.stringify(REPLY);

const server = await localServer(({ body }, response: ServerResponse) => {
  const number = /case (\d+)/.exec(body)?.[1];
  const changed = number === undefined ? undefined : cases[Number(number)];
  const { type, body: text } = changed ?? { type: "application/json", body: GOOD };
  response.writeHead(200, type === "" ? {} : { "content-type": type });
  response.end(text);
});

beforeAll(async () => {
  // A good reply after each: an evaluation gives up after many failures in a row.
  const questions = Array.from({ length: CASES }, (_, i) => [`case ${i}`, `good ${i}`]).flat();
  const lines = questions.map((question, i) =>
    JSON.stringify({ id: `${i}`, question, answer: "Oslo" }),
  );
  writeFileSync(at("q.jsonl"), `${lines.join("\n")}\n`);
  writeFileSync(at("c.jsonl"), '{"id":"1","contents":"Norway\\nThe capital is Oslo."}\n');
  const built = await runCommand(indexCommand, ["index", "build", at("c.jsonl"), "--out", at("idx")]); // prettier-ignore
  expect(built.status).toBe(0);
});

describe("a chat server whose replies are changed at random", () => {
  it.each([
    ["JSON", changedJson, []],
    ["streams", changedStream, ["--set", "policy.endpoint.stream=true"]],
  ] as const)(
    "is measured by what it says, or not at all: %s",
    async (name, change, flags) => {
      const draw = random(34).derive(name);
      cases = Array.from({ length: CASES }, () => change(draw));
      const begun = performance.now();
      const { status, stdout } = await runCommand(evalCommand, [
        ...["eval", "--policy", `${server.url}/v1`, "--model", "m", "--dataset", at("q.jsonl")],
        ...["--index", at("idx"), "--out", at(name), "--retries", "0", "--timeout-ms", "8000"],
        ...["--json", ...flags],
      ]);
      expect(existsSync(at(name, "rows.jsonl")), stdout).toBe(true);
      const rows = readFileSync(at(name, "rows.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { em: number; error?: { code: string } });
      expect(rows).toHaveLength(2 * CASES);
      const found = rows.map(({ em, error }): Outcome =>
        error !== undefined ? "error" : em === 1 ? "right" : "wrong",
      );
      const unlike = cases.flatMap(({ what, outcomes }, i) =>
        outcomes.includes(found[2 * i]!)
          ? []
          : [`${what}\n  ${found[2 * i]!} ${JSON.stringify(rows[2 * i]?.error ?? null)}`],
      );
      expect(unlike).toEqual([]);
      expect(found.filter((_, i) => i % 2 === 1 && found[i] !== "right")).toEqual([]);
      const codes = rows.flatMap(({ error }) => error?.code ?? []);
      expect(codes.filter((code) => !/^(HTTP|COMPLETION)_/.test(code))).toEqual([]);
      expect(codes.length).toBeGreaterThan(CASES / 4);
      expect(found.filter((each) => each === "right").length).toBeGreaterThan(CASES);
      // What could not be measured is said, and its mean stands beside the other.
      expect(status).toBe(6);
      const right = found.filter((each) => each === "right").length;
      expect(JSON.parse(stdout.split("\n")[0]!)).toMatchObject({
        n: rows.length - codes.length,
        errors: { n: codes.length, asWrong: { n: rows.length, em: right / rows.length } },
      });
      expect(performance.now() - begun).toBeLessThan(120_000);
    },
    200_000,
  );
});
