import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const binary = join(import.meta.dirname, "..", "..", "..", "bin", "agentrl.js");
/** util-linux's, which runs a command in a pseudo terminal; BSD's takes other flags. */
const hasScript = String(spawnSync("script", ["--version"]).stdout).includes("util-linux");

/** Each training is asked to end at its first steps; one that has not ended by now does not heed its keys. */
const MOST_MS = 200_000;

/** A training in a pseudo terminal of 100 by 30; `type` is asked after every piece of output for keys to press. */
function inTerminal(
  out: string,
  type: (shown: string) => string,
  flags: readonly string[] = [],
): Promise<{ shown: string; status: number | null; modes: string[] }> {
  const sets = [
    ...["algorithm.steps=400", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
    ...["evaluation.dataset.questions=4", "dataset.questions=8"],
  ].flatMap((set) => ["--set", set]);
  const train = [binary, "train", "--recipe", "search-r1", "--tier", "smoke", ...sets, ...flags];
  const command = [process.execPath, ...train, "--out", join(folder, out), "--json"].join(" ");
  const json = join(folder, `${out}.json`);
  const modes = (name: string): string => `stty -a > ${join(folder, `${out}.${name}`)}`;
  // Of the signal of Ctrl-C a shell may end before the command that it waits for (dash does), unless it has something to do about it.
  const line = `trap : INT; stty cols 100 rows 30; ${modes("before")}; ${command} > ${json}; code=$?; ${modes("after")}; exit $code`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: { ...process.env, TERM: "xterm-256color", CI: "", NO_COLOR: "", SHELL: "/bin/sh" },
  });
  return new Promise((resolve, reject) => {
    let shown = "";
    const tooLong = setTimeout(() => {
      reject(new Error(`no end after ${MOST_MS / 1000} s; shown so far:\n${shown}`));
      child.kill("SIGHUP");
    }, MOST_MS);
    child.stdout.on("data", (piece: Buffer) => {
      shown += piece.toString();
      const keys = type(shown);
      if (keys !== "") child.stdin.write(keys);
    });
    child.on("close", (status) => {
      clearTimeout(tooLong);
      if (!existsSync(join(folder, `${out}.after`))) {
        reject(new Error(`the terminal closed before the command ended; shown so far:\n${shown}`));
        return;
      }
      const read = (name: string): string => readFileSync(join(folder, `${out}.${name}`), "utf8");
      resolve({ shown, status, modes: [read("before"), read("after")] });
    });
  });
}

/** Presses keys once a text is shown; the live view draws at intervals, so not every step is. */
function once(text: RegExp, keys: string): (shown: string) => string {
  let done = false;
  return (shown) => {
    if (done || !text.test(shown)) return "";
    done = true;
    return keys;
  };
}

describe.skipIf(!hasScript || !existsSync(join(binary, "..", "..", "dist")))(
  "agentrl train on a terminal (skipped without util-linux's script)",
  { timeout: 240_000 },
  () => {
    it("shows a live view, stops after a step when asked to, and leaves the terminal as it was", async () => {
      const { shown, status, modes } = await inTerminal("asked", once(/step \d+\/400/, "q"));
      expect(status, shown).toBe(130);
      expect(shown).toContain("held-out EM");
      expect(shown).toMatch(/Stopped after step \d+ of 400 as requested; --resume continues\./);
      expect(modes[1]).toBe(modes[0]);
      // Neither another screen nor a hidden cursor: nothing to mend after kill -9.
      for (const code of ["1049", "25"]) expect(shown).not.toContain(`\u001b[?${code}`);
    });

    it("keeps what is finished on Ctrl-C", async () => {
      const { shown, status, modes } = await inTerminal("cut", once(/step \d+\/400/, "\u0003"));
      expect(status, shown).toBe(130);
      expect(shown).toContain("Interrupted: saving finished work.");
      expect(shown).toMatch(/cut: stopped early and saved; `[^`]*resume [^`]*cut` continues\./);
      expect(modes[1]).toBe(modes[0]);
    });

    it("writes lines under --plain", async () => {
      const { shown, status } = await inTerminal("plain", once(/ 1\/400/, "\u0003"), ["--plain"]);
      expect(status, shown).toBe(130);
      expect(shown).toContain("step  reward");
      expect(shown).not.toContain("p pause");
    });
  },
);
