import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 });
const folder = temporaryFolder();
const home = join(folder, "home");
const program = join(packageRoot, "bin", "agentrl.js");
const hasStrace = spawnSync("strace", ["-f", "true"]).status === 0;

/** What strace saw: addresses of internet sockets, and paths that were made or opened for writing. */
interface Seen {
  said: string;
  addresses: string[];
  written: string[];
}

let count = 0;

/** Runs a command until it ends; a server until it named its address and two seconds more. */
async function traced(args: readonly string[], isServer: boolean): Promise<Seen> {
  const log = join(folder, `trace-${count++}`);
  const calls =
    "trace=connect,sendto,sendmsg,sendmmsg,open,openat,creat,mkdir,mkdirat,rename,renameat2";
  // Without CI's variables: the runtime would be silent by itself there.
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home };
  const strace = [
    "-f",
    "-qq",
    "-s",
    "4096",
    "-e",
    calls,
    "-o",
    log,
    process.execPath,
    program,
    ...args,
  ];
  const child = spawn("strace", strace, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  // strace would leave the server behind, so the signal goes to its child.
  const stop = (): void => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    process.kill(Number(children.trim().split(" ")[0]), "SIGTERM");
  };
  let said = "";
  await new Promise<void>((done) => {
    const take = (data: Buffer): void => {
      const wasUp = said.includes("127.0.0.1:");
      said += data.toString();
      if (isServer && !wasUp && said.includes("127.0.0.1:")) setTimeout(stop, 2000);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("close", () => {
      done();
    });
  });
  const lines = readFileSync(log, "utf8").split("\n");
  const addresses = lines.filter(
    (line) => /AF_INET6?\b|nscd|\/resolv/.test(line) && /connect|send/.test(line),
  );
  const written = lines.flatMap((line) => {
    const makes = /\b(O_WRONLY|O_RDWR|O_CREAT)\b| (mkdir|mkdirat|rename|renameat2|creat)\(/.test(
      line,
    );
    const path = /"([^"]*)"/.exec(line)?.[1];
    if (!makes || path === undefined || /= -1 E/.test(line)) return [];
    return [resolve(home, path)];
  });
  return { said, addresses, written };
}

/** Folders that the commands below name, or that are agentrl's own; a lock stands beside its folder. */
const OWN = ["runs", "index", "evaluation", "served-weights", ".cache/agentrl"].flatMap((each) => [
  join(home, each),
  join(home, dirname(each), `.${basename(each)}.lock`),
]);
/** Devices, and what the kernel says about the process; temporary files have the program's name. */
const NOWHERE = /^\/(dev|proc|sys)\//;
const TEMPORARY = new RegExp(`^${home}/agentrl-`);
const isOwn = (path: string): boolean =>
  NOWHERE.test(path) ||
  TEMPORARY.test(path) ||
  path === join(home, ".cache") ||
  OWN.some((own) => path === own || path.startsWith(`${own}/`) || path.startsWith(`${own}.`));

describe.skipIf(!hasStrace)("agentrl (skipped without strace)", () => {
  beforeAll(() => {
    mkdirSync(home);
    writeFileSync(join(home, "corpus.jsonl"), '{"id":"a","text":"cats purr"}\n');
  });

  it.each<[string, string[], boolean]>([
    ["train", ["train", "search-r1", "--tier", "smoke", "--out", "runs/smoke"], false],
    ["eval", ["eval", "--tier", "smoke", "--limit", "2", "--out", "evaluation"], false],
    ["doctor", ["doctor"], false],
    ["index build", ["index", "build", "corpus.jsonl", "--out", "index"], false],
    ["serve", ["serve", "--index", "index", "--port", "0"], true],
    ["serve env", ["serve", "env", "search-r1", "--tier", "smoke", "--port", "0"], true],
    ["serve policy", ["serve", "policy", "--policy", "base", "--port", "0"], true],
    ["serve engine", ["serve", "engine", "--policy", "base", "--port", "0"], true],
  ])("connects to nobody and writes only into its own folders: %s", async (_, args, isServer) => {
    const { said, addresses, written } = await traced(args, isServer);
    expect(said).not.toContain("error:");
    expect(addresses).toEqual([]);
    expect(written.filter((path) => !isOwn(path))).toEqual([]);
  });
});
