import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, freemem, platform, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { AgentrlError, errorMessage, ExternalError } from "../../base/errors.ts";
import { deviceNames } from "../../onnx/device-names.ts";
import { probeDevice } from "../../onnx/device-probe.ts";
import { runtimeInfo } from "../../onnx/runtime-info.ts";
import type { CliCommand } from "../command.ts";
import { jsonOption } from "../options.ts";
import { packageVersion } from "../package-info.ts";
import { table } from "../table.ts";

/** One thing that was looked at. */
interface Check {
  name: string;
  /** false: what cannot be done without. */
  ok: boolean;
  /** Of what can be done without: whether it is there. */
  there?: boolean;
  /** What was found, for a person. */
  found: string;
}

const MIN_NODE = 20;

/** `agentrl doctor`: whether this machine can run what the package needs. */
export const doctorCommand: CliCommand = {
  name: "doctor",
  register(program, context) {
    program
      .command("doctor")
      .summary("check this machine")
      .description(
        "Check Node, processor, memory, the native runtime, the devices that policies can run on, and the folder for temporary files.",
      )
      .addOption(jsonOption())
      .action(async ({ json }: { json?: true }) => {
        const checks = [
          { name: "agentrl", ok: true, found: packageVersion() },
          checkNode(),
          checkProcessor(),
          checkMemory(),
          await checkRuntime(),
          ...(await checkDevices()),
          await checkTemporaryFolder(),
        ];
        const ok = checks.every((check) => check.ok);
        if (json === true) context.out(JSON.stringify({ ok, checks }));
        else context.out(table(checks.map((check) => [markOf(check), check.name, check.found])));
        if (ok) return;
        const bad = checks.filter((check) => !check.ok).map(({ name }) => name);
        throw new ExternalError(
          "MACHINE_UNFIT",
          `this machine lacks something: ${bad.join(", ")}.`,
        );
      });
  },
};

function markOf({ ok, there = true }: Check): string {
  if (!ok) return "BAD";
  return there ? "ok" : "–";
}

function checkNode(): Check {
  const ok = Number(process.versions.node.split(".")[0]) >= MIN_NODE;
  const found = `${process.version} on ${platform()} ${arch()}`;
  return { name: "node", ok, found: ok ? found : `${found}; needs ${MIN_NODE} or newer` };
}

function checkProcessor(): Check {
  const model = cpus()[0]?.model.trim() ?? "";
  const cores = availableParallelism();
  return {
    name: "processor",
    ok: true,
    found: `${cores} ${cores === 1 ? "core" : "cores"}${model === "" ? "" : `, ${model}`}`,
  };
}

function checkMemory(): Check {
  return { name: "memory", ok: true, found: `${gib(totalmem())}, ${gib(freemem())} free` };
}

async function checkRuntime(): Promise<Check> {
  const name = "onnxruntime";
  try {
    const { version, providers } = await runtimeInfo();
    const of = (bundled: boolean): string =>
      providers
        .filter((provider) => provider.bundled === bundled)
        .map((provider) => provider.name)
        .join(", ");
    const extra = of(false) === "" ? "" : `; needs files of its own: ${of(false)}`;
    return { name, ok: true, found: `${version}, runs on ${of(true)}${extra}` };
  } catch (error) {
    const code = error instanceof AgentrlError ? ` [${error.code}]` : "";
    return { name, ok: false, found: `${errorMessage(error)}${code}` };
  }
}

/** Each device that `--device` may name, tried. None but the processor is needed. */
async function checkDevices(): Promise<Check[]> {
  const checks: Check[] = [];
  for (const device of deviceNames) {
    const probe = await probeDevice(device);
    checks.push({
      name: `device ${device}`,
      ...{ ok: probe.works || device !== "cpu", there: probe.works },
      found: probe.works
        ? `works, multiplies at ${probe.gflops.toFixed(probe.gflops < 10 ? 1 : 0)} GFLOP/s`
        : `not here: ${probe.why}`,
    });
  }
  return checks;
}

async function checkTemporaryFolder(): Promise<Check> {
  const name = "temporary files";
  try {
    const folder = await mkdtemp(join(tmpdir(), "agentrl-doctor-"));
    try {
      await writeFile(join(folder, "probe"), "probe");
    } finally {
      await rm(folder, { recursive: true });
    }
    const { bavail, bsize } = await statfs(tmpdir());
    return { name, ok: true, found: `${tmpdir()} is writable, ${gib(bavail * bsize)} free` };
  } catch (error) {
    return { name, ok: false, found: `${tmpdir()} is not writable (${errorMessage(error)})` };
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
