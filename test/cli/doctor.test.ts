import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";

interface Report {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string }[];
}

describe("agentrl doctor", () => {
  it("finds this machine fit and names the providers", () => {
    const { stdout, stderr, status } = runCli(["doctor", "--json"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const report = JSON.parse(stdout) as Report;
    expect(report.ok).toBe(true);
    expect(report.checks.map(({ name }) => name)).toEqual([
      "agentrl",
      "node",
      "processor",
      "memory",
      "onnxruntime",
      "temporary files",
    ]);
    expect(report.checks[4]?.found).toMatch(/^\d+\.\d+\.\d+, runs on cpu/);
  });

  it("ends with 4 when temporary files cannot be written", () => {
    const { stdout, stderr, status } = runCli(["doctor"], { env: { TMPDIR: "/nonexistent" } });
    expect(status).toBe(4);
    expect(stdout).toMatch(/^BAD {2}temporary files {2}\/nonexistent is not writable/m);
    expect(stderr).toBe("error: this machine lacks something: temporary files. [MACHINE_UNFIT]\n");
  });

  it("says so when the native runtime does not load", () => {
    const resolve = `export async function resolve(name, context, next) {
      if (name === "onnxruntime-node") throw new Error("no native library");
      return next(name, context);
    }`;
    const hook = `import { register } from "node:module";
      register("data:text/javascript," + ${JSON.stringify(encodeURIComponent(resolve))});`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const { stdout, status } = runCli(["doctor"], { env: { NODE_OPTIONS } });
    expect(status).toBe(4);
    expect(stdout).toContain("onnxruntime-node does not load (no native library)");
    expect(stdout).toContain("[RUNTIME_MISSING]");
  });
});
