import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { runAgentrl, startAgentrl } from "./agentrl-process.ts";
import { differences, productHashes } from "./same-products.ts";
import { trainArguments } from "./small-training.ts";

const cwd = temporaryFolder();
const STEPS = 3;
const nextMoment = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

/** Files of a run by their names in it. */
function filesOf(run: string): Record<string, string> {
  const hashes = Object.entries(productHashes(cwd, [run]));
  return Object.fromEntries(hashes.map(([path, hash]) => [path.slice(run.length + 1), hash]));
}

beforeAll(async () => {
  const { status, stderr } = await runAgentrl(trainArguments("straight", STEPS), { cwd });
  expect(status, stderr).toBe(0);
});

describe("a shell's limits", () => {
  it.skipIf(process.platform === "win32")(
    "on open files are named where too few are allowed",
    async () => {
      const check = ["recipes", "check", "search-r1"];
      const { status, stderr } = await runAgentrl(check, { cwd, under: "ulimit -n 40;" });
      expect(status).toBe(4);
      expect(stderr).toContain("allows 40 open files at once, and 256 are needed");
      // As the message says.
      const raised = await runAgentrl(check, { cwd, under: "ulimit -n 256;" });
      expect(raised).toMatchObject({ status: 0 });
    },
  );

  it.skipIf(process.platform !== "linux")(
    "on addresses change nothing where they are wide, and end a run by a word where not",
    async () => {
      const limited = { cwd, under: "ulimit -v 3000000;" };
      const { status, stderr } = await runAgentrl(trainArguments("narrow", STEPS), limited);
      expect(status, stderr).toBe(0);
      expect(differences(filesOf("straight"), filesOf("narrow"))).toEqual([]);
      // The engine's thread cannot even begin: V8 ends the process, as a kill does.
      const tight = await runAgentrl(trainArguments("tight", STEPS), {
        cwd,
        under: "ulimit -v 1500000;",
      });
      expect(tight.status).not.toBe(0);
      expect(tight.stderr).toMatch(/OOM|memory/i);
      const again = await runAgentrl(trainArguments("tight", STEPS, "--resume"), { cwd });
      expect(again.status, again.stderr).toBe(0);
      expect(differences(filesOf("straight"), filesOf("tight"))).toEqual([]);
    },
  );

  it.skipIf(process.platform !== "linux")(
    "on memory are told by the engine with what it was asked for; --resume with more gives a straight run's bytes",
    async () => {
      // How much a run needs depends on the machine; where V8 is refused some, it ends the process itself.
      const told: string[] = [];
      for (let megabytes = 550; megabytes >= 300 && told.length === 0; megabytes -= 50) {
        const out = `short-${megabytes}`;
        const { status, stderr } = await runAgentrl(trainArguments(out, STEPS), {
          cwd,
          under: `ulimit -d ${megabytes * 1000};`,
        });
        if (!stderr.includes("[ENGINE_OUT_OF_MEMORY]")) continue;
        expect(status, stderr).toBe(4);
        expect(stderr).toMatch(
          /out of memory for \w+ \(.*\d+ (tokens|positions).*(bad_alloc|heap out of memory)/,
        );
        told.push(out);
      }
      const [out = "no limit led to it"] = told;
      const again = await runAgentrl(trainArguments(out, STEPS, "--resume"), { cwd });
      expect(again.status, again.stderr).toBe(0);
      expect(differences(filesOf("straight"), filesOf(out))).toEqual([]);
    },
  );
});

describe("SIGTERM", () => {
  it("keeps a checkpoint of the last whole step and ends a training with 143; --resume gives a straight run's bytes", async () => {
    const running = startAgentrl(trainArguments("ended", STEPS), { cwd });
    while (!running.said().includes(" 1/3")) await nextMoment();
    running.child.kill("SIGTERM");
    const { status, stderr } = await running.ended;
    expect(status, stderr).toBe(143);
    expect(stderr).toContain("SIGTERM received: saving finished work.");
    const resumed = await runAgentrl(trainArguments("ended", STEPS, "--resume"), { cwd });
    expect(resumed.status, resumed.stderr).toBe(0);
    expect(resumed.stderr).toMatch(/resumes from step [1-3]/);
    expect(differences(filesOf("straight"), filesOf("ended"))).toEqual([]);
  });
});

const hasScript = spawnSync("script", ["--version"]).status === 0;

describe("a terminal that is closed", () => {
  it.skipIf(!hasScript)(
    "ends a training as Ctrl-C does: a checkpoint is kept (needs util-linux's script)",
    async () => {
      const program = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");
      const words = [process.execPath, program, ...trainArguments("closed", STEPS), "--plain"];
      const line = words.map((word) => `'${word}'`).join(" ");
      // The shell passes the end of its terminal over, lets the program hear of it, and notes how that ended.
      writeFileSync(
        join(cwd, "line.sh"),
        `trap : HUP\n${line} &\necho $! > pid\nwait $!\necho $? > status\n`,
      );
      const terminal = spawn("script", ["-qefc", "bash line.sh", "said.txt"], {
        cwd,
        stdio: ["pipe", "ignore", "ignore"],
      });
      const closed = once(terminal, "exit");
      const read = (name: string): string =>
        existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : "";
      while (!read("said.txt").includes(" 1/3")) await nextMoment();
      process.kill(Number(read("pid")), "SIGHUP");
      while (read("status") === "") await nextMoment();
      await closed;
      expect(read("status")).toBe("129\n");
      const resumed = await runAgentrl(trainArguments("closed", STEPS, "--resume"), { cwd });
      expect(resumed.status, resumed.stderr).toBe(0);
      expect(resumed.stderr).toMatch(/resumes from step [1-3]/);
      expect(differences(filesOf("straight"), filesOf("closed"))).toEqual([]);
    },
  );
});

const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

describe("a clock that jumps", () => {
  it.skipIf(!existsSync(FAKETIME))(
    "a day back and two days on changes nothing (needs Debian's libfaketime)",
    async () => {
      const clock = join(cwd, "clock");
      writeFileSync(clock, "+0");
      const env = {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        // As in life: the clock that counts from the start of the machine does not jump.
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        DONT_FAKE_MONOTONIC: "1",
      };
      const running = startAgentrl(trainArguments("jumped", STEPS), { cwd, env });
      while (!running.said().includes(" 1/3")) await nextMoment();
      writeFileSync(clock, "-1d");
      while (!running.said().includes(" 2/3")) await nextMoment();
      writeFileSync(clock, "+2d");
      const { status, stderr } = await running.ended;
      expect(status, stderr).toBe(0);
      const days = readFileSync(join(cwd, "jumped", "events.jsonl"), "utf8").match(/"at":"[^T]+/g);
      expect(days?.length).toBeGreaterThan(0);
      expect(differences(filesOf("straight"), filesOf("jumped"))).toEqual([]);
    },
  );
});
