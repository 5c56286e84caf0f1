import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { openToolbox, toolsSchema } from "../../../src/env/tools/toolbox.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";
import { corpus, task } from "../../helpers/search-world.ts";

/** What a SandboxFusion server replies; with python3 on this machine it runs the program. */
type Run = { status: string; return_code: number | null; stdout: string; stderr: string };
const replyOf = (status: string, run: Run | null, message = "") => ({
  ...{ status, message, compile_result: null, run_result: run },
  ...{ executor_pod_name: null, files: {} },
});

interface Asked {
  code: string;
  language: string;
  run_timeout: number;
  memory_limit_MB: number;
}

const server = await localServer(({ body }, response) => {
  const { code } = JSON.parse(body) as Asked;
  const nothing = { stdout: "", stderr: "" };
  if (code.includes("hang"))
    sendJson(response, replyOf("Failed", { status: "TimeLimitExceeded", return_code: null, ...nothing })); // prettier-ignore
  else if (code.includes("broken")) sendJson(response, replyOf("SandboxError", null, "no runner"));
  else {
    const { stdout, stderr, status } = spawnSync("python3", ["-c", code], { encoding: "utf8" });
    const run = { status: "Finished", return_code: status, stdout, stderr };
    sendJson(response, replyOf(status === 0 ? "Success" : "Failed", run));
  }
});
const { signal } = new AbortController();

function opened(settings: object = {}) {
  const tools = toolsSchema.parse([{ name: "python", server: server.url, ...settings }]);
  const session = openToolbox(tools, { retriever: corpus }).open({
    trajectoryId: "one",
    task,
    seed: 1,
  });
  return (input: string) => session.call({ tool: "python", input }, { turn: 0, signal });
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)("the tool python with a server's programs run by python3", () => {
  it("shows what a program prints, and its exception as an interpreter here would", async () => {
    const run = opened({ seconds: 3, memoryMb: 512 });
    expect(await run("print(6 * 7)")).toEqual({ tool: "python", text: "42" });
    const streams =
      "import sys, io\nprint('a', file=sys.stderr)\nprint('b')\nsys.stdout = io.StringIO()";
    expect(await run(streams)).toMatchObject({ text: "a\nb" });
    expect(await run("x = 5")).toMatchObject({ text: "(nothing was printed)" });
    expect(await run("print('so far')\ndef f():\n  return 1 / 0\nf()")).toEqual({
      tool: "python",
      text: 'so far\nFile "<python>", line 4, in <module>\n  File "<python>", line 3, in f\nZeroDivisionError: division by zero',
      problem: { code: "python-error", message: "ZeroDivisionError" },
    });
    expect((await run("print(1")).problem?.message).toBe("SyntaxError");
    const asked = JSON.parse(server.received[0]!.body) as Asked;
    expect(asked).toMatchObject({ language: "python", run_timeout: 3, memory_limit_MB: 512 });
    expect(server.received[0]?.url).toBe("/run_code");
  });

  it("runs earlier programs of a persistent session again, without their output", async () => {
    const run = opened({ persistent: true });
    await run("x = 20\nprint('first')");
    expect(await run("print(x)\n1 / 0")).toMatchObject({ problem: { code: "python-error" } });
    expect(await run("print(x + 1, __name__)")).toMatchObject({ text: "21 __main__" });
    expect(await opened()("print(x)")).toMatchObject({ problem: { message: "NameError" } });
  });

  it("seeds random numbers by the episode, and cuts long output", async () => {
    const drawn = "import random\nprint(random.random())";
    expect(await opened()(drawn)).toEqual(await opened()(drawn));
    const { text } = await opened({ outputCharacters: 4 })("print('abcdefgh')");
    expect(text).toBe("abcd\n… (more was printed)");
  });

  it("ends with the answer that final_answer received", async () => {
    const run = opened({ finalAnswer: true, persistent: true });
    expect(await run("final_answer(3)\nprint('never')")).toMatchObject({ answer: "3" });
    expect(await run("print('so')")).toEqual({ tool: "python", text: "so" });
    expect(await opened()("final_answer(3)")).toMatchObject({ problem: { message: "NameError" } });
  });

  it("tells a program that ended its interpreter", async () => {
    expect(await opened()("import os\nos._exit(3)")).toMatchObject({ problem: { code: "crash" } });
  });
});

describe("the tool python with a server", () => {
  it("tells a program that ran too long, and forgets it", async () => {
    const run = opened({ persistent: true });
    expect(await run("hang()")).toMatchObject({ problem: { code: "time-limit" } });
    await run("broken()").catch(() => undefined);
    expect(server.received.at(-1)?.body).not.toContain("hang");
  });

  it("fails where the sandbox fails, with its message and address", async () => {
    await expect(opened()("broken()")).rejects.toThrow(
      expect.objectContaining({
        code: "TOOL_FAILED",
        message: expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+ failed: no runner/) as string,
      }),
    );
  });
});
