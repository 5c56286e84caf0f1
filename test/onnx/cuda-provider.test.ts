import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findProvider, loadProblem, providerProblem } from "../../src/onnx/cuda-provider.ts";
import { absenceIn } from "../../src/onnx/device-absence.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const root = temporaryFolder();
let folders = 0;

/** The build id of the provider in the wheel onnxruntime-gpu 1.30.0. */
const KNOWN = "cb49769971ffd58123f8d12b4284c2cc741d9c0b";

/** Files as the runtime and its provider are: an ELF note near the start, constants after megabytes of kernels. */
function installed({
  commit = "f2c39fe2f",
  version = "1.30.0",
  build = KNOWN,
  kernels = 5_000_000,
}): string {
  const folder = join(root, `runtime-${folders++}`);
  mkdirSync(folder);
  const info = `ORT Build Info: git-branch=HEAD, git-commit-id=${commit}, build type=Release`;
  writeFileSync(join(folder, "libonnxruntime.so.1"), `\x7fELF\0${info}\0`);
  const note = Buffer.concat([
    Buffer.from([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]),
    Buffer.from("GNU\0"),
    Buffer.from(build, "hex"),
  ]);
  const constants = `\0Invalid device ID: \0${version}\0cudaSetDevice(id)\0`;
  const parts = [Buffer.from("\x7fELF"), note, Buffer.alloc(kernels, 1), Buffer.from(constants)];
  writeFileSync(join(folder, "libonnxruntime_providers_cuda.so"), Buffer.concat(parts));
  writeFileSync(join(folder, "libonnxruntime_providers_shared.so"), "\x7fELF");
  return folder;
}

describe("the CUDA provider beside the runtime", () => {
  it("is the same build where commit and build id belong together", async () => {
    expect(await findProvider(installed({}), "1.30.0")).toEqual({
      state: "same",
      commit: "f2c39fe2f",
    });
    expect(await providerProblem("1.30.0", installed({}))).toBeNull();
  });

  it("is found where its version crosses a border between pieces that are read", async () => {
    const start = "\x7fELF".length + 36;
    for (const over of [5, 20, 22, 24]) {
      const folder = installed({ kernels: 2 ** 22 - start - over });
      expect(await findProvider(folder, "1.30.0")).toMatchObject({ state: "same" });
    }
  });

  it("of another version is refused, with both versions", async () => {
    const folder = installed({ version: "1.29.0", build: "d7".repeat(20) });
    expect(await findProvider(folder, "1.30.0")).toEqual({ state: "foreign", found: ["1.29.0"] });
    expect(await providerProblem("1.30.0", folder)).toMatch(
      /^refused: the provider is of onnxruntime 1\.29\.0, the runtime of 1\.30\.0, .*onnxruntime-gpu 1\.30\.0/,
    );
  });

  it("without any version is refused", async () => {
    const folder = installed({ version: "none" });
    expect(await providerProblem("1.30.0", folder)).toContain("of onnxruntime an unknown version");
  });

  it.each([
    ["an unknown build id", { build: "00".repeat(20) }],
    ["a runtime of another commit", { commit: "2e2543fbe9" }],
  ])("of the same version with %s is used, and not called the same build", async (_, made) => {
    const folder = installed(made);
    expect(await findProvider(folder, "1.30.0")).toEqual({ state: "unknown" });
    expect(await providerProblem("1.30.0", folder)).toBeNull();
  });

  it("says which files are missing", async () => {
    const folder = join(root, "empty");
    mkdirSync(folder);
    const both =
      /^libonnxruntime_providers_cuda\.so and libonnxruntime_providers_shared\.so not found/;
    expect(await providerProblem("1.30.0", folder)).toMatch(both);
    writeFileSync(join(folder, "libonnxruntime_providers_cuda.so"), "");
    expect(await providerProblem("1.30.0", folder)).toMatch(
      /^libonnxruntime_providers_shared\.so not/,
    );
    expect(await providerProblem("1.30.0", null)).toContain("no native files for this platform");
  });

  it.runIf(process.platform === "linux")(
    "that the system does not load: its loader says why",
    () => {
      expect(loadProblem(installed({}))).toMatch(/libonnxruntime_providers_cuda\.so: /);
      expect(loadProblem(null)).toBe("");
    },
  );
});

describe("a message of the runtime about an absent device", () => {
  const loading = "OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library: ";
  it.each([
    [
      `${loading}libcublasLt.so.13: cannot open shared object file: No such file`,
      "libcublasLt.so.13 was not found: put the folder of CUDA's libraries into LD_LIBRARY_PATH",
    ],
    [
      `${loading}libcuda.so.1: cannot open shared object file: No such file`,
      "libcuda.so.1 was not found: it belongs to NVIDIA's driver",
    ],
    [
      "cuda_call.cc:146 [with ERRTYPE = cudaError] CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1 ; hostname=x",
      "CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version: check the card",
    ],
    [`${loading}wrong ELF class`, "its provider's library does not load"],
    ["Failed to get an adapter: RequestAdapter", "no graphics card with a Vulkan"],
  ])("%s", (message, said) => {
    expect(absenceIn(message)).toContain(said);
  });

  it("about something else is none", () => {
    expect(absenceIn("Invalid rank for input: x")).toBeNull();
  });
});
