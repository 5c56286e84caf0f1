import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { packageRoot } from "../src/base/package-root.ts";
import { temporaryFolder } from "./helpers/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 });
const folder = temporaryFolder();
const isRoot = process.getuid?.() === 0;
/** Nobody, where the test may become another user. */
const OTHER = 65_534;

/** Runs a program without the variables that a developer may have set for npm. */
function run(program: string, args: readonly string[], cwd: string, uid?: number) {
  const { PATH = "", ...all } = process.env;
  const kept = Object.entries(all).filter(([name]) =>
    /proxy$|^(NODE_EXTRA_CA_CERTS|SSL_)/i.test(name),
  );
  const env = {
    ...{ PATH, HOME: cwd, TMPDIR: cwd, ...Object.fromEntries(kept) },
    ...{
      npm_config_cache: join(cwd, "npm-cache"),
      npm_config_nodedir: process.execPath.replace(/\/bin\/node$/, ""),
    },
  };
  const as = uid === undefined ? {} : { uid, gid: uid };
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
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
    const place = emptyFolder("installed");
    install(place);
    if (isRoot) {
      train(join(place, PROGRAM), emptyFolder("other", OTHER), OTHER);
    } else {
      const modules = join(place, "node_modules/agentrl");
      expect(run("chmod", ["-R", "a-w", modules], place).status).toBe(0);
      train(join(place, PROGRAM), emptyFolder("other"));
      run("chmod", ["-R", "u+w", modules], place);
    }
  });

  it.runIf(isRoot)("installs and trains for a user other than root", () => {
    const place = emptyFolder("of-other", OTHER);
    install(place, OTHER);
    train(PROGRAM, place, OTHER);
  });
});
