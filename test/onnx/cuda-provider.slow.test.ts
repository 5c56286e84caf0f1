import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs"; // prettier-ignore
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

/**
 * Folders with both libraries of a wheel onnxruntime-gpu (`unzip -j WHEEL '*providers_cuda.so' '*providers_shared.so' -d DIR`), with a
 * comma: of the runtime's version, and of another one. Without them, the test is skipped.
 */
const [same, other] = (process.env["CUDA_PROVIDERS"] ?? "").split(",");
/** Folder of CUDA's libraries (nvidia-cublas, nvidia-cuda-runtime, nvidia-curand). */
const libraries = process.env["CUDA_LIBRARIES"] ?? "";

const root = join(import.meta.dirname, "..", "..");
const FILES = ["libonnxruntime_providers_cuda.so", "libonnxruntime_providers_shared.so"];

/** The built package with a runtime of its own, so that this one stays as it is. */
function packageCopy(): { folder: string; native: string } {
  const folder = join(temporaryFolder(), "package");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of ["bin", "dist", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ["datasets", "recipes"]) symlinkSync(join(root, name), join(folder, name));
  for (const name of readdirSync(join(root, "node_modules"))) {
    const [from, to] = [root, folder].map((each) => join(each, "node_modules", name));
    if (name === "onnxruntime-node") cpSync(from!, to!, { recursive: true });
    else symlinkSync(from!, to!);
  }
  const bin = join(folder, "node_modules", "onnxruntime-node", "bin");
  return { folder, native: join(bin, readdirSync(bin)[0]!, "linux", "x64") };
}

describe.skipIf(same === undefined || other === undefined || libraries === "")(
  "the CUDA provider of PyPI (set CUDA_PROVIDERS and CUDA_LIBRARIES to run it)",
  () => {
    const { folder, native } = packageCopy();
    const install = (from: string): void => {
      for (const name of FILES) copyFileSync(join(from, name), join(native, name));
    };
    const run = (script: string, args: string[], path: string): { stdout: string; stderr: string; status: number | null } =>
      spawnSync(process.execPath, [join(folder, script), ...args], { cwd: folder, encoding: "utf8", timeout: 1_000_000,
        env: { ...process.env, LD_LIBRARY_PATH: path, NO_COLOR: "1" },
      }); // prettier-ignore
    const agentrl = join("bin", "agentrl.js");
    const doctor = (): string =>
      /^.*device cuda.*$/m.exec(run(agentrl, ["doctor"], libraries).stdout)?.[0] ?? "";
    /** As doctor tests the device. */
    const probe = (path: string): string =>
      run(join("dist", "onnx", "device-probe-child.js"), ["cuda"], path).stdout;
    const TIMES = { timeout: 3_000_000 };

    it("is missing, then of the runtime's commit, and says what else is missing", TIMES, () => {
      rmSync(join(native, FILES[0]!), { force: true });
      expect(probe(libraries)).toMatch(/libonnxruntime_providers_cuda\.so .*not found/);
      install(same!);
      expect(probe("")).toContain("libcublasLt.so.13 was not found: put the folder of CUDA's libraries");
      const found = doctor();
      expect(found).toMatch(/; its provider is of the runtime's commit [0-9a-f]{9}$/);
      if (existsSync("/dev/nvidiactl")) expect(found).toContain("works, multiplies at");
      else expect(found).toContain("libcuda.so.1 was not found: it belongs to NVIDIA's driver");
    }); // prettier-ignore

    it("of another version is refused by doctor and by --device cuda", TIMES, () => {
      install(other!);
      const refused = /refused: the provider is of onnxruntime \d+\.\d+\.\d+, the runtime of/;
      expect(doctor()).toMatch(refused);
      const { stderr, status } = run(
        agentrl,
        ["eval", "--device", "cuda", "--limit", "1"],
        libraries,
      );
      expect(stderr).toMatch(refused);
      expect(stderr).toContain("[DEVICE_MISSING]");
      expect(status).toBe(4);
    });
  },
);
