import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { chatServer } from "../helpers/chat-server.ts";
import { writeRun } from "../helpers/run-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const binary = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");
/** util-linux's, which runs a command in a pseudo terminal; BSD's takes other flags. */
const hasScript = String(spawnSync("script", ["--version"]).stdout).includes("util-linux");

/** Sets the title, colours, clears, hides, fills the clipboard, overwrites its line, and turns the reading direction. */
const HOSTILE =
  "\u001b]0;PWN\u0007\u001b[31mRED\u001b[2J\u009b31m\u001b[8m\u001b]52;c;aGk=\u001b\\\rX\u007f\u0008\u202e\u2066\u200b\u2028<b>| a";

/** What agentrl writes itself: styles of cli/trace/styled.ts, erased lines and moves of the progress bar. */
const OWN =
  // eslint-disable-next-line no-control-regex -- escape sequences are what is looked for
  /\u001b(?:\[(?:0|1|2|2;3|30;43|1;36|1;32|1;31|33)m|\[\d*[AGJK]|[78])|\r\u001b\[K/g;
const ACTING = /(?!\r?\n|\t|\r(?=\r|$))\p{Cc}|[\u2028\u2029]|\p{Bidi_Control}|\u200b/gu;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Output of a command on a terminal: stdout and stderr together. */
function onTerminal(args: readonly string[]): Promise<string> {
  const command = [process.execPath, binary, ...args].map(quoted).join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, TERM: "xterm-256color", CI: "", NO_COLOR: "", SHELL: "/bin/sh" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
    child.on("close", () => {
      resolve(Buffer.concat(pieces).toString("utf8"));
    });
  });
}

const lines = (...values: object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

describe.skipIf(!hasScript || !existsSync(join(binary, "..", "..", "dist")))(
  "data on a terminal (skipped without util-linux's script)",
  { timeout: 240_000 },
  () => {
    let server: string[] = [];

    beforeAll(async () => {
      const write = (name: string, text: string): void => {
        writeFileSync(join(folder, name), text);
      };
      const text = `${HOSTILE} capital of France`;
      write("c.jsonl", lines({ id: `p${HOSTILE}`, title: HOSTILE, text }));
      write("q.jsonl", lines({ id: `1${HOSTILE}`, question: `${HOSTILE} q?`, answer: HOSTILE }));
      write("p.jsonl", lines({ id: `1${HOSTILE}`, prediction: HOSTILE }));
      write("bad.jsonl", lines({ id: 1, [HOSTILE]: HOSTILE }, { question: [HOSTILE] }));
      write("cut.jsonl", `{"id": "\u009b31m\u202e`);
      write("bad.yaml", JSON.stringify({ summary: HOSTILE, [HOSTILE]: HOSTILE }));
      write("good.yaml", JSON.stringify({ summary: HOSTILE, base: {}, tiers: { mini: {} } }));
      write("qrels.tsv", `query-id\tcorpus-id\tscore\n1\tp1\t1\n`);
      const chat = await chatServer(() => `<think>${HOSTILE}</think><answer>${HOSTILE}</answer>`);
      server = ["--policy", `${chat.url}/v1`, "--model", `m${HOSTILE}`];
      const run = writeRun(join(folder, "runs", `r${HOSTILE.replaceAll(/[/\0]/g, "")}`), {
        recipe: HOSTILE.replaceAll(/[\r\n]/g, ""),
        rewards: [0.1, 0.2],
        before: [0, 1],
        after: [1, 1],
        events: [{ kind: "alarm", step: 1, message: HOSTILE, facts: { metric: HOSTILE } }],
      });
      cpSync(run, join(folder, "run"), { recursive: true });
      mkdirSync(join(folder, "logs"), { recursive: true });
    });

    // In order: later commands read what earlier ones made. `shows`: whether the output must hold the data, made visible.
    const table: [name: string, args: () => string[], shows?: "shows"][] = [
      ["data check of passages", () => ["data", "check", "c.jsonl"], "shows"],
      ["data check of questions", () => ["data", "check", "q.jsonl"], "shows"],
      ["data check of faults", () => ["data", "check", "bad.jsonl"], "shows"],
      ["data check of a cut file", () => ["data", "check", "cut.jsonl"]],
      ["data check --json", () => ["data", "check", "bad.jsonl", "--json"], "shows"],
      ["data convert", () => ["data", "convert", "q.jsonl", "q.parquet", "--to", "beir"]],
      ["index build", () => ["index", "build", "c.jsonl", "--out", "idx"]],
      ["index search", () => ["index", "search", "idx", "capital France"], "shows"],
      ["index search --json", () => ["index", "search", "idx", "capital", "--json"], "shows"],
      ["index search of a hostile query", () => ["index", "search", "idx", HOSTILE]],
      ["index delete", () => ["index", "delete", "idx", "--ids", `x${HOSTILE}`], "shows"],
      ["index check", () => ["index", "check", "idx"]],
      ["index plan", () => ["index", "plan", "c.jsonl"]],
      ["score", () => ["score", "--predictions", "p.jsonl", "--references", "q.jsonl"], "shows"],
      ["ask", () => ["ask", ...server, "--index", "idx", `${HOSTILE}?`], "shows"],
      ["ask --json", () => ["ask", ...server, "--index", "idx", "q?", "--json"], "shows"],
      ["eval", () => ["eval", ...server, "--dataset", "q.jsonl", "--index", "idx", "--out", "ev"]],
      [
        "eval --format csv",
        () => ["eval", ...server, "--dataset", "q.jsonl", "--index", "idx", "--format", "csv"],
        "shows",
      ],
      ["eval report as text", () => ["eval", "report", "ev"], "shows"],
      ["eval report as JSON lines", () => ["eval", "report", "ev", "--format", "jsonl"], "shows"],
      ["eval report as a page", () => ["eval", "report", "ev", "--format", "html"]],
      ["eval compare", () => ["eval", "compare", "ev", "copy"]],
      [
        "eval retrieval",
        () => [
          "eval",
          "retrieval",
          "--index",
          "idx",
          "--queries",
          "q.jsonl",
          "--qrels",
          "qrels.tsv",
        ],
      ],
      ["trace show", () => ["trace", "show", "ev/trajectories.jsonl"], "shows"],
      ["trace show --json", () => ["trace", "show", "ev/trajectories.jsonl", "--json"], "shows"],
      ["trace lint", () => ["trace", "lint", "ev/trajectories.jsonl"]],
      ["runs list", () => ["runs", "list", "runs"], "shows"],
      ["runs show", () => ["runs", "show", "run"], "shows"],
      ["runs show --json", () => ["runs", "show", "run", "--json"], "shows"],
      ["runs report", () => ["runs", "report", "run"]],
      ["recipes show", () => ["recipes", "show", "good.yaml"]],
      ["recipes check", () => ["recipes", "check", "bad.yaml"], "shows"],
      ["recipes plan", () => ["recipes", "plan", "bad.yaml"], "shows"],
      ["train's error", () => ["train", "--recipe", "bad.yaml"], "shows"],
      ["an unknown command", () => [`x${HOSTILE}`], "shows"],
      ["an unknown option", () => ["train", `--x${HOSTILE}`], "shows"],
      ["a missing file", () => ["data", "check", `x${HOSTILE}`], "shows"],
      ["a setting", () => ["recipes", "show", "search-r1", "--set", `seed=${HOSTILE}`], "shows"],
      ["a judge", () => ["judge", "run", "--model", HOSTILE, "--predictions", "p.jsonl"]],
      ["doctor", () => ["doctor"]],
    ];

    it.each(table)("is shown by %s, not obeyed", async (_, args, shows) => {
      const output = await onTerminal(args());
      const found = output.replace(OWN, "").match(ACTING) ?? [];
      expect(found, JSON.stringify(output.slice(-3000))).toEqual([]);
      expect(output).not.toMatch(/this is a bug in agentrl/);
      if (shows !== undefined) expect(output).toMatch(/\\u(001b|009b|202e)/);
    });

    it("leaves an answer as it is in a pipe, and shows it in messages", () => {
      const { stdout } = spawnSync(
        process.execPath,
        [binary, "eval", "report", "ev", "--format", "jsonl"],
        { cwd: folder, encoding: "utf8" },
      );
      expect((JSON.parse(stdout) as { answer: string }).answer).toContain("\u001b]0;PWN");
      expect(stdout).toContain("\u202e");
    });
  },
);
