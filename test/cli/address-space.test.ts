import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";

/** Runs Node in a shell that allows 4 GB of address space, as batch clusters do. */
function limited(...args: string[]) {
  const line = ["-c", 'ulimit -v 4000000 && exec "$0" "$@"', process.execPath, ...args];
  return spawnSync("sh", line, { encoding: "utf8" });
}

const program = join(packageRoot, "bin", "agentrl.js");

describe.runIf(process.platform === "linux")("agentrl under ulimit -v", () => {
  it("runs commands that send no request", () => {
    const { status, stdout, stderr } = limited(program, "recipes", "list");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("search-r1");
  });

  it("names the limit and the cure where a request needs more, and the cure works", () => {
    const ofServer = ["eval", "--policy", "http://127.0.0.1:1", "--model", "m", "--limit", "1"];
    const { status, stderr } = limited(program, ...ofServer);
    expect(status).toBe(4);
    const cure = "--disable-wasm-trap-handler";
    expect(stderr).toContain(`NODE_OPTIONS=${cure}`);
    expect(stderr).toContain("[ADDRESS_SPACE]");
    const loads = `import("./dist/http/load-undici.js").then((it) => it.loadUndici().request)`;
    expect(limited(cure, "--eval", loads)).toMatchObject({ status: 0, stderr: "" });
  });
});
