import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { claimWriting, withClaims } from "../../src/cli/claim-output.ts";
import type { CliContext } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { withRunLock } from "../../src/run/folder/run-lock.ts";
import { spawnCli } from "../helpers/run-cli.ts";
import { writeSynthesis } from "../helpers/synthesis-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);

/** A command that writes: its arguments, and what it writes. */
interface Writer {
  args: readonly string[];
  path: string;
  /** Who holds the path: another command, or another run. */
  hold?: "run";
  /** Whether it is run again when the path is free; false: it needs minutes, a server or the network. */
  isQuick?: boolean;
}

const claim = (path: string, ...args: string[]): Writer => ({ path, args, isQuick: true });
const long = (path: string, ...args: string[]): Writer => ({ path, args });
const run = (path: string, ...args: string[]): Writer => ({ path, args, hold: "run" });

const writers = (): Record<string, Writer> => ({
  init: long(at("project"), "init", at("project"), "--questions", at("q.jsonl"), "--passages", at("c.jsonl"), "--policy", "base"), // prettier-ignore
  "data generate": claim(at("world"), "data", "generate", "tinyworld", "--people", "40", "--out", at("world")), // prettier-ignore
  "data download": long(at("nq"), "data", "download", "nq", "--out", at("nq")),
  "data convert": claim(at("trl.jsonl"), "data", "convert", at("q.jsonl"), at("trl.jsonl"), "--to", "trl"), // prettier-ignore
  "models convert": long(at("model"), "models", "convert", at("m.gguf"), "--out", at("model")),
  "index build": claim(at("new"), "index", "build", at("c.jsonl"), "--out", at("new")),
  "index add": claim(at("idx"), "index", "add", at("idx"), at("more.jsonl")),
  "index delete": claim(at("idx"), "index", "delete", at("idx"), "--ids", "2"),
  "index compact": claim(at("idx"), "index", "compact", at("idx")),
  "serve engine": long(at("weights"), "serve", "engine", "--data", at("weights"), "--port", "0"),
  "serve policy": long(at("record.jsonl"), "serve", "policy", "--record", at("record.jsonl"), "--port", "0"), // prettier-ignore
  "synth-data draw": run(at("draws"), "synth-data", "draw", "--recipe", "search-r1", "--tier", "smoke", "--out", at("draws")), // prettier-ignore
  "synth-data questions": claim(at("made.jsonl"), "synth-data", "questions", "--index", at("idx"), "--out", at("made.jsonl")), // prettier-ignore
  "synth-data select": run(at("synth"), "synth-data", "select", at("synth")),
  "synth-data export": claim(at("sft.jsonl"), "synth-data", "export", at("synth"), "--as", "openai-chat", "--out", at("sft.jsonl")), // prettier-ignore
  "synth-data report": claim(at("synth.html"), "synth-data", "report", at("synth"), "--out", at("synth.html")), // prettier-ignore
  sft: run(at("sft"), "sft", "search-r1", "--tier", "smoke", "--data", at("synth", "samples.jsonl"), "--out", at("sft")), // prettier-ignore
  dpo: run(at("dpo"), "dpo", "search-r1", "--tier", "smoke", "--data", at("synth", "pairs.jsonl"), "--out", at("dpo")), // prettier-ignore
  resume: run(at("synth"), "resume", at("synth")),
  train: run(at("train"), "train", "search-r1", "--tier", "smoke", "--out", at("train")),
  play: long(at("games"), "play", "search-r1", "--tier", "smoke", "--out", at("games")),
  "eval policy": run(at("eval"), "eval", "--policy", "base", "--dataset", at("q.jsonl"), "--index", at("idx"), "--out", at("eval")), // prettier-ignore
  "eval retrieval": claim(at("r.trec"), "eval", "retrieval", "--index", at("idx"), "--queries", at("queries.jsonl"), "--qrels", at("qrels.tsv"), "--run-out", at("r.trec")), // prettier-ignore
  "eval report": long(at("report.md"), "eval", "report", at("a"), "--format", "md", "--out", at("report.md")), // prettier-ignore
  "eval compare": claim(at("changed.jsonl"), "eval", "compare", at("a"), at("b"), "--changed", at("changed.jsonl")), // prettier-ignore
  score: claim(at("scores.jsonl"), "score", "--predictions", at("answers.jsonl"), "--out", at("scores.jsonl")), // prettier-ignore
  "judge run": long(at("judged"), "judge", "run", "--predictions", at("answers.jsonl"), "--out", at("judged"), "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"), // prettier-ignore
  reproduce: long(at("claims"), "reproduce", "search-r1", "--tier", "smoke", "--out", at("claims")),
  "reproduce --all": claim(at("atlas.html"), "reproduce", "--all", "--stored", "--page", at("atlas.html")), // prettier-ignore
  "runs report": long(at("train", "report.html"), "runs", "report", at("train")),
  report: long(at("both.md"), "report", at("a"), "--format", "md", "--out", at("both.md")),
  "recipes export": claim(at("verl"), "recipes", "export", "search-r1", "--tier", "smoke", "--to", "verl", "--out", at("verl")), // prettier-ignore
  new: claim(at("parts", "brevity.mjs"), "new", "reward", "brevity", "--out", at("parts")),
});

/** Commands that write nothing at a path of the user's. */
const READERS = [
  ...["data list", "data check", "index plan", "index search", "index check", "index bench"],
  ...["serve env", "serve", "synth-data again", "ask", "judge check", "judge agree", "runs list"],
  ...["runs show", "trace lint", "trace show", "recipes list", "recipes show", "recipes plan"],
  ...["recipes needs", "eval table"],
  ...["recipes check", "reward check", "doctor", "completion"],
  // Writes the cache; a second process waits for the first.
  "models get",
];

/** Commands with an action, as they are typed. */
function namesOf(command: Command, path: string[] = []): string[] {
  const below = command.commands.flatMap((each) => namesOf(each, [...path, each.name()]));
  const acts = (command as unknown as { _actionHandler: unknown })._actionHandler != null;
  return path.length > 0 && (acts || below.length === 0) ? [path.join(" "), ...below] : below;
}

beforeAll(() => {
  const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const passages = Array.from({ length: 4000 }, (_, i) => ({
    id: `${i}`,
    contents: `Town ${i}\nThe town number ${i} lies at river ${i % 97}, in the county of ${i % 31}, founded by Ann${i}.`,
  }));
  writeFileSync(at("c.jsonl"), lines(...passages));
  writeFileSync(at("more.jsonl"), lines({ id: "more", contents: "More\nOne more." }));
  writeFileSync(at("q.jsonl"), lines(...[1, 2, 3, 4, 5, 6].map((i) => ({ id: `${i}`, question: `Where is town ${i}?`, answer: "county" })))); // prettier-ignore
  writeFileSync(at("answers.jsonl"), lines({ id: "1", prediction: "x", references: ["x"] }));
  writeFileSync(at("queries.jsonl"), lines({ _id: "1", text: "town number 1" }));
  writeFileSync(at("qrels.tsv"), "query-id\tcorpus-id\tscore\n1\t1\t1\n");
  for (const [name, em] of [
    ["a", 0],
    ["b", 1],
  ] as const) {
    // prettier-ignore
    mkdirSync(at(name));
    const row = { id: "1", question: "?", references: ["x"], answer: em === 1 ? "x" : "y", em, f1: em }; // prettier-ignore
    writeFileSync(at(name, "rows.jsonl"), lines(row));
  }
  mkdirSync(at("train"));
  writeSynthesis(at("synth"));
  writeFileSync(at("synth", "manifest.json"), JSON.stringify({ agentrl: "0.1.0", recipe: "search-r1", tier: "smoke", seed: 1, teacher: { name: "model" }, dataset: "d", hashes: { settings: "s", template: "t", retriever: "r", dataset: "d" }, readsGold: false })); // prettier-ignore
  writeFileSync(at("synth", "recipe.resolved.yaml"), "summary: made\nbase: {}\ntiers: { smoke: {} }\n"); // prettier-ignore
  expect(spawnCli(["index", "build", at("c.jsonl"), "--out", at("idx")]).status).toBe(0);
});

describe("a path that another process writes", () => {
  it("is known of every command: each one writes, or is known to read alone", async () => {
    const program = new Command("agentrl");
    for (const { commands } of commandGroups)
      for (const command of commands) await command.register(program, {} as CliContext);
    const written = Object.keys(writers()).filter((name) => name !== "reproduce --all");
    // A family that acts itself does what its first subcommand does.
    const families = ["eval", "synth-data"];
    const names = namesOf(program).filter((name) => !families.includes(name));
    expect([...written, ...READERS].sort()).toEqual(names.sort());
  });

  it.each(Object.entries(writers()))(
    "is refused by name: %s",
    async (_name, { args, path, hold, isQuick = false }) => {
      const refusedRun = (): ReturnType<typeof spawnCli> => spawnCli(args, { cwd: folder });
      const refused =
        hold === "run"
          ? await withRunLock(path, () => Promise.resolve(refusedRun()))
          : await withClaims(() => {
              claimWriting(path);
              return Promise.resolve(refusedRun());
            });
      expect(refused.stderr).toContain(`process ${process.pid} on ${hostname()} is writing`);
      expect(refused.stderr).toMatch(/\[(OUTPUT|RUN)_BUSY\]/);
      expect(refused.status).toBe(4);
      if (!isQuick) return;
      expect(refusedRun()).toMatchObject({ status: 0 });
      expect(existsSync(path)).toBe(true);
      expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
    },
  );

  it("by any spelling, and is free again after a kill", async () => {
    const args = ["index", "build", "c.jsonl", "--out", "./raced/../raced/"];
    const bin = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");
    const first = spawn(process.execPath, [bin, "index", "build", "c.jsonl", "--out", at("raced")], { cwd: folder }); // prettier-ignore
    const ended = new Promise<number | null>((resolve) => first.once("close", resolve));
    while (!existsSync(at(".raced.lock"))) await wait(2);
    first.kill("SIGSTOP");
    const second = spawnCli(args, { cwd: folder });
    expect(second.stderr).toContain(`process ${first.pid ?? 0} on ${hostname()} is writing`);
    expect(second.status).toBe(4);
    first.kill("SIGCONT");
    expect(await ended).toBe(0);
    expect(spawnCli(["index", "check", at("raced")]).status).toBe(0);
    const killed = spawn(process.execPath, [bin, ...args.with(4, "raced2")], { cwd: folder });
    while (!existsSync(at(".raced2.lock"))) await wait(2);
    killed.kill("SIGKILL");
    await new Promise((resolve) => killed.once("close", resolve));
    expect(spawnCli(args.with(4, "raced2"), { cwd: folder }).status).toBe(0);
    expect(readFileSync(at("raced2", "manifest.json"), "utf8")).toContain("bm25");
  });
});
