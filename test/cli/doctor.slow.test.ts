import { describe, expect, it } from "vitest";
import { deviceNames } from "../../src/onnx/device-names.ts";
import { spawnCli } from "../helpers/run-cli.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";

const evalCommand = commandNamed("eval");

interface Report {
  ok: boolean;
  checks: { name: string; ok: boolean; found: string }[];
}

/** Other systems have such devices. */
const onLinux = (found: RegExp): RegExp => (process.platform === "linux" ? found : /^/);

describe("agentrl doctor", () => {
  it("finds this machine fit and names the providers", () => {
    const { stdout, stderr, status } = spawnCli(["doctor", "--json"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const report = JSON.parse(stdout) as Report;
    expect(report.ok).toBe(true);
    expect(report.checks.map(({ name }) => name)).toEqual([
      "agentrl",
      "node",
      "processor",
      "memory",
      "onnxruntime",
      ...deviceNames.map((device) => `device ${device}`),
      "temporary files",
      ...["cores to use", "memory limit", "runs folder", "open files", "clock", "hnswlib-node"],
      ...["@huggingface/transformers", "models' cache", "variables set"],
      ...["base policy", "literate policy", "numerate policy", "coding policy", "bases", "speed"],
    ]);
    const found = (name: string) => report.checks.find((each) => each.name === name)?.found;
    for (const name of ["base", "literate", "numerate", "coding"])
      expect(found(`${name} policy`)).toMatch(/^intact, [0-9a-f]{12}$/);
    expect(found("bases")).toMatch(/^(none made yet|made: [a-z, -]+); kept in \S+bases$/);
    expect(found("speed")).toMatch(/^base policy writes [\d,]+ tokens\/s with \d+ workers?$/);
    expect(report.checks[4]?.found).toMatch(/^\d+\.\d+\.\d+, runs on cpu/);
    expect(report.checks[5]?.found).toMatch(/^works, multiplies at [\d.]+ GFLOP\/s$/);
  });

  it("names what this machine lacks, and variables without their values", () => {
    const lacking = { VK_ICD_FILENAMES: "/nonexistent", TMPDIR: "/nonexistent" };
    const secrets = { HTTPS_PROXY: "http://user:hidden@proxy", HF_TOKEN: "hf_hidden" };
    const { stdout, stderr, status } = spawnCli(["doctor"], { env: { ...lacking, ...secrets } });
    expect(stdout).toMatch(/^ok +device cpu +works/m);
    expect(stdout).toMatch(onLinux(/^– +device dml +not here: .* has no such provider for linux/m));
    expect(stdout).toMatch(onLinux(/^– +device webgpu +not here: no graphics card with a Vulkan/m));
    expect(stdout).toMatch(/^BAD +temporary files +\/nonexistent is not writable/m);
    // A device may be missing, the folder of temporary files may not.
    expect(stderr).toBe("error: this machine lacks something: temporary files. [MACHINE_UNFIT]\n");
    expect(status).toBe(4);
    expect(stdout).toMatch(/^ok +variables set +.*HTTPS_PROXY.*HF_TOKEN/m);
    expect(stdout).toContain("a token is set");
    expect(stdout).not.toContain("hidden");
  });

  it.runIf(process.platform === "linux")(
    "a missing device that is named ends a command",
    async () => {
      const args = ["eval", "--device", "dml", "--limit", "1"];
      const { stderr, status } = await runCommand(evalCommand, args);
      expect(status).toBe(4);
      expect(stderr).toContain('error: device "dml": onnxruntime-node has no such provider');
      expect(stderr).toContain("[DEVICE_MISSING]");
    },
  );

  it("says so when the native runtime does not load", () => {
    const resolve = `export async function resolve(name, context, next) {
      if (name === "onnxruntime-node") throw new Error("no native library");
      return next(name, context);
    }`;
    const hook = `import { register } from "node:module";
      register("data:text/javascript," + ${JSON.stringify(encodeURIComponent(resolve))});`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const { stdout, status } = spawnCli(["doctor"], { env: { NODE_OPTIONS } });
    expect(status).toBe(4);
    expect(stdout).toContain("onnxruntime-node does not load (no native library)");
    expect(stdout).toContain("[RUNTIME_MISSING]");
  });
});
