import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, freemem, platform, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { AgentrlError, ExternalError, errorMessage } from "../../base/errors.ts";
import { formatBytes, formatCount, plural, shortNumber } from "../../base/format.ts";
import { packageRoot, packageVersion } from "../../base/package-root.ts";
import { renderText } from "../../base/table.ts";
import { telemetryState } from "../../base/telemetry.ts";
import type { SampleRequest } from "../../engine/engine.ts";
import { deviceNames } from "../../onnx/device-names.ts";
import { probeDevice } from "../../onnx/device-probe.ts";
import { runtimeInfo } from "../../onnx/runtime-info.ts";
import { defineCommand } from "../command.ts";
import { type Check, bad, checkNeeds, deviceAdvice, good, lacking } from "../doctor-needs.ts";
import { jsonFlag } from "../options.ts";

const MIN_NODE = 20;

/** `agentrl doctor`: checks whether this machine can run the package. */
export const doctorCommand = defineCommand({
  name: "doctor",
  description:
    "Check Node, processor, memory and their limits, the native runtime, the devices that policies can run on, disk, open files, clock, optional packages, caches, the shipped policies, and the bases made here. Each problem is shown with a remedy.",
  options: { json: jsonFlag() },
  async run({ json }, context) {
    const checks = [
      good("agentrl", packageVersion()),
      checkNode(),
      checkProcessor(),
      checkMemory(),
      await checkRuntime(),
      ...(await checkDevices()),
      await checkTemporaryFolder(),
      ...(await checkNeeds()),
      await checkSpeed(),
    ];
    const ok = checks.every((check) => check.ok);
    if (json === true) context.out(JSON.stringify({ ok, checks }));
    else
      context.out(
        renderText({ rows: checks.map((check) => [markOf(check), check.name, check.found]) }),
      );
    if (ok) return;
    const bad = checks.filter((check) => !check.ok).map(({ name }) => name);
    throw new ExternalError("MACHINE_UNFIT", `this machine lacks something: ${bad.join(", ")}.`);
  },
});

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
  return good("processor", `${plural(cores, "core")}${model === "" ? "" : `, ${model}`}`);
}

function checkMemory(): Check {
  return good("memory", `${formatBytes(totalmem())}, ${formatBytes(freemem())} free`);
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
    return good(name, `${version}, runs on ${of(true)}${extra}; ${telemetryState()}`);
  } catch (error) {
    const code = error instanceof AgentrlError ? ` [${error.code}]` : "";
    return bad(name, `${errorMessage(error)}${code}`);
  }
}

/** A test of each device of `--device`. Only the processor is required. */
async function checkDevices(): Promise<Check[]> {
  const checks: Check[] = [];
  for (const device of deviceNames) {
    const probe = await probeDevice(device);
    const found = probe.works
      ? `works, multiplies at ${shortNumber(probe.gflops)} GFLOP/s`
      : `not here: ${probe.why}`;
    const more = await deviceAdvice(device, probe.works);
    checks.push({
      name: `device ${device}`,
      ok: probe.works || device !== "cpu",
      there: probe.works,
      found: more === null ? found : `${found}; ${more}`,
    });
  }
  return checks;
}

/** Tokens a second of the policy that comes with the package, all slots of all workers busy, for a second or two. */
async function checkSpeed(): Promise<Check> {
  const name = "speed";
  try {
    const { openPolicyEngine } = await import("../../engine/open-engine.ts");
    const model = join(packageRoot, "datasets", "base-policy");
    const engine = await openPolicyEngine({ model, trains: false });
    try {
      const workers = Number(engine.machine["workers"]);
      const written = (maxTokens: number): Promise<unknown> =>
        Promise.all(Array.from({ length: 32 * workers }, () => engine.sample(request(maxTokens))));
      await written(4);
      const begun = performance.now();
      const result = (await written(40)) as { ids: number[] }[];
      const tokens = result.reduce((sum, { ids }) => sum + ids.length, 0);
      const perSecond = tokens / ((performance.now() - begun) / 1000);
      return good(
        name,
        `base policy writes ${formatCount(perSecond)} tokens/s with ${plural(workers, "worker")}`,
      );
    } finally {
      await engine.close();
    }
  } catch (error) {
    return lacking(name, `not measured: ${errorMessage(error)}`);
  }
}

function request(maxTokens: number): SampleRequest {
  return {
    promptIds: [10, 11, 12],
    maxTokens,
    stopIds: [],
    stopStrings: [],
    seed: 1,
    sequence: null,
    temperature: 1,
    topP: 1,
    topK: 0,
  };
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
    return good(name, `${tmpdir()} is writable, ${formatBytes(bavail * bsize)} free`);
  } catch (error) {
    return bad(name, `${tmpdir()} is not writable (${errorMessage(error)})`);
  }
}
