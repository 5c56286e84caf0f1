import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { chatServer } from "../helpers/chat-server.ts";
import { sendJson } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const QUESTIONS = 8;

it("a matrix that was killed in the middle of a dataset resumes there, and its numbers are those of a run without interruption", async () => {
  for (const name of ["a", "b"]) {
    const lines = Array.from({ length: QUESTIONS }, (_, i) =>
      JSON.stringify({ id: `${name}${i}`, question: `Which is ${i}?`, answer: `Town ${i % 2}` }),
    );
    writeFileSync(at(`${name}.jsonl`), lines.join("\n"));
  }
  const server = await chatServer((_, response) => {
    const choice = { message: { content: "<answer>Town 0</answer>" }, finish_reason: "stop" };
    setTimeout(() => {
      sendJson(response, { choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    }, 150);
    return null;
  });
  const command = (out: string): string[] => [
    ...["eval", "--policy", `${server.url}/v1`, "--model", "small,large", "--strategy", "direct"],
    ...["--dataset", `${at("a.jsonl")},${at("b.jsonl")}`, "--concurrency", "1"],
    ...["--out", at(out), "--json"],
  ];
  const bin = join(import.meta.dirname, "../../bin/agentrl.js");
  const killed = spawn(process.execPath, [bin, ...command("out")], { stdio: "ignore" });
  const rows = join(
    at("out"),
    `${server.url.replace("http://", "").replace(":", "_")}_v1_small`,
    at("b.jsonl").replaceAll("/", "_"),
    "rows.jsonl",
  );
  const written = (): number =>
    existsSync(rows) ? readFileSync(rows, "utf8").split("\n").length - 1 : 0;
  while (written() < 2) await sleep(20);
  killed.kill("SIGKILL");
  await once(killed, "exit");
  expect(written()).toBeLessThan(QUESTIONS);
  const resumed = await runCommand(evalCommand, [...command("out"), "--resume"]);
  expect(resumed.status).toBe(0);
  // Of two models on two datasets; only requests that were under way at the kill are repeated.
  const all = 4 * QUESTIONS;
  expect(server.received.length).toBeGreaterThanOrEqual(all);
  expect(server.received.length).toBeLessThanOrEqual(all + 2);
  const straight = await runCommand(evalCommand, command("straight"));
  expect(JSON.parse(resumed.stdout)).toEqual(JSON.parse(straight.stdout));
  expect(JSON.parse(resumed.stdout)).toMatchObject({ matrix: [{ average: { em: 0.5 } }, {}] });
});
