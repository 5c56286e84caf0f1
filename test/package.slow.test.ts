import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { packageRoot } from "../src/base/package-root.ts";
import { temporaryFolder } from "./helpers/temporary-folder.ts";
import { tutorialServer, writeTutorialData } from "./helpers/tutorial-data.ts";
import { tutorialFile, tutorialSteps, unlikePage } from "./helpers/tutorial-page.ts";

vi.setConfig({ testTimeout: 900_000 });
const folder = temporaryFolder();
const isRoot = process.getuid?.() === 0;
/** Nobody, where the test may become another user. */
const OTHER = 65_534;

/** Without the variables that a developer may have set for npm. */
function environment(cwd: string): NodeJS.ProcessEnv {
  const { PATH = "", ...all } = process.env;
  const kept = Object.entries(all).filter(([name]) =>
    /proxy$|^(NODE_EXTRA_CA_CERTS|SSL_)/i.test(name),
  );
  return {
    PATH,
    HOME: cwd,
    TMPDIR: cwd,
    ...Object.fromEntries(kept),
    npm_config_cache: join(cwd, "npm-cache"),
    npm_config_nodedir: process.execPath.replace(/\/bin\/node$/, ""),
  };
}

function run(program: string, args: readonly string[], cwd: string, uid?: number) {
  const as = uid === undefined ? {} : { uid, gid: uid };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: environment(cwd),
    encoding: "utf8",
    ...as,
  });
  return { status, said: stdout + stderr };
}

function emptyFolder(name: string, uid?: number): string {
  const path = join(folder, name);
  mkdirSync(path);
  if (uid !== undefined) chownSync(path, uid, uid);
  return path;
}

let tarball: string;

function install(cwd: string, uid?: number): void {
  const { status, said } = run("npm", ["install", tarball], cwd, uid);
  expect(said).not.toContain("npm error");
  expect(status).toBe(0);
  const runtime = join(cwd, "node_modules/agentrl/node_modules/onnxruntime-node");
  // What its install script would download.
  const libraries = readdirSync(join(runtime, "bin"), { recursive: true }).join();
  expect(libraries).not.toContain("providers_cuda");
}

function train(program: string, cwd: string, uid?: number): void {
  const args = [program, "train", "search-r1", "--tier", "smoke", "--out", "run"];
  const { status, said } = run(process.execPath, args, cwd, uid);
  expect(said).toContain("checkpoint  run/checkpoints/step-2");
  expect(status).toBe(0);
}

const PROGRAM = "node_modules/agentrl/bin/agentrl.js";

let place: string | undefined;

/** A folder with the installed package. */
function installed(): string {
  if (place === undefined) {
    place = emptyFolder("installed");
    install(place);
  }
  return place;
}

describe.skipIf(process.platform === "win32")("the packed package, in an empty folder", () => {
  beforeAll(() => {
    chmodSync(folder, 0o755);
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
    const script = join(packageRoot, "scripts", "bundle-runtime.mjs");
    // The tests run what is built, so only these two of its scripts are needed.
    expect(run(process.execPath, [script, "strip"], packageRoot).status).toBe(0);
    try {
      const { said } = run("npm", [...args, "--cache", join(folder, "npm-cache")], packageRoot);
      expect(said.trim()).toMatch(/^agentrl-.*\.tgz$/);
      tarball = join(folder, said.trim());
    } finally {
      run(process.execPath, [script, "restore"], packageRoot);
    }
    expect(existsSync(join(packageRoot, "node_modules/onnxruntime-node/script"))).toBe(true);
  }, 900_000);

  it("installs from the npm registry, and trains for a user who may not write into node_modules", () => {
    const cwd = installed();
    if (isRoot) {
      train(join(cwd, PROGRAM), emptyFolder("other", OTHER), OTHER);
    } else {
      const modules = join(cwd, "node_modules/agentrl");
      expect(run("chmod", ["-R", "a-w", modules], cwd).status).toBe(0);
      train(join(cwd, PROGRAM), emptyFolder("other"));
      run("chmod", ["-R", "u+w", modules], cwd);
    }
  });

  it.runIf(isRoot)("installs and trains for a user other than root", () => {
    const cwd = emptyFolder("of-other", OTHER);
    install(cwd, OTHER);
    train(PROGRAM, cwd, OTHER);
  });

  describe("does what docs/tutorial.md says", () => {
    /** The page's address of a server; the test's server has a free port. */
    const ADDRESS = "http://127.0.0.1:9411";
    let address = ADDRESS;
    /** What each command printed. */
    const printed = new Map<string, string>();

    /** Runs a command of the page as a shell does, with both outputs in their order. */
    async function enter(command: string): Promise<void> {
      const cwd = installed();
      const path = join(cwd, "printed.txt");
      const file = openSync(path, "w");
      const child = spawn("sh", ["-c", command.replaceAll(ADDRESS, address)], {
        cwd,
        env: environment(cwd),
        stdio: ["ignore", file, file],
      });
      const status = await new Promise((resolve) => child.on("close", resolve));
      closeSync(file);
      const text = readFileSync(path, "utf8");
      printed.set(command, text);
      expect(status, `${command}\n${text}`).toBe(0);
    }

    beforeAll(async () => {
      const cwd = installed();
      writeFileSync(join(cwd, "short-queries.mjs"), tutorialFile("js"));
      writeFileSync(join(cwd, "my-search.yaml"), tutorialFile("yaml"));
      writeTutorialData(cwd);
      address = (await tutorialServer()).url;
    }, 900_000);

    // The command with a model of the hub is not run: it would download a gigabyte.
    const steps = tutorialSteps().filter(
      ({ commands }) => !commands.join().includes("--model Qwen"),
    );

    it.each(steps.map((step) => [step.commands.join("; "), step] as const))(
      "%s",
      async (_, { commands, output }) => {
        for (const command of commands) await enter(command);
        if (output === null) return;
        const got = commands.map((command) => printed.get(command)!).join("\n");
        expect(unlikePage(output.replaceAll(ADDRESS, address), got)).toBeNull();
      },
    );

    const outputOf = (part: string): string =>
      printed.get([...printed.keys()].find((command) => command.includes(part)) ?? "") ?? "";
    /** A row of a training's table: before, after and change. */
    const row = (run: string, name: string): number[] =>
      new RegExp(`^${name} +(.*)$`, "m")
        .exec(outputOf(`--out runs/${run}`))![1]!
        .split(/ +/)
        .map((each) => Number(each.replace("−", "-")));
    /** The share of step 1's groups that teach nothing; the policy is the base, so processors agree. */
    const flatGroups = (run: string): number =>
      Number(
        /^ *1\/6 .*$/m
          .exec(outputOf(`--out runs/${run}`))![0]
          .trim()
          .split(/ +/)[7],
      );

    it("shows lessons that hold by a margin", () => {
      expect(steps.length).toBeGreaterThan(15);
      const [before, after] = row("first", "EM");
      expect(after! - before!).toBeGreaterThan(0.35);
      expect(row("first", "searches")[2]).toBeGreaterThan(0.8);
      expect(outputOf("eval compare runs/first")).toContain("no difference shown");
      expect(row("thrift", "searches")[1]).toBeLessThan(0.2);
      expect(row("thrift", "EM")[1]).toBeLessThan(after! - 0.3);
      expect(row("paid", "EM")[1]).toBeGreaterThan(row("thrift", "EM")[1]! + 0.3);
      expect(row("paid", "searches")[1]).toBeGreaterThan(0.8);
      expect(flatGroups("short")).toBeLessThan(flatGroups("first"));
    });
  });
});
