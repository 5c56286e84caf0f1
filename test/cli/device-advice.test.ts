import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { vulkanAdvice } from "../../src/cli/doctor-needs.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

let folders = 0;
const temporary = temporaryFolder();

/** A root folder with these files. */
function machine(...files: string[]): string {
  const root = join(temporary, `root-${folders++}`);
  mkdirSync(root);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  return root;
}

const LOADER = "usr/lib/x86_64-linux-gnu/libvulkan.so.1";
const MANIFEST = "usr/share/vulkan/icd.d/nvidia_icd.json";

describe("what Vulkan lacks", () => {
  it("the loader", () => {
    expect(vulkanAdvice({}, machine(MANIFEST))).toMatch(
      /^libvulkan\.so\.1 was not found.*libvulkan1/,
    );
  });

  it("nothing where a loader of LD_LIBRARY_PATH and a manifest are there", () => {
    const root = machine("opt/vulkan/libvulkan.so.1", MANIFEST);
    expect(vulkanAdvice({ LD_LIBRARY_PATH: "/opt/vulkan" }, root)).toBeNull();
  });

  it("the capability graphics, in a container that sees the card for CUDA alone", () => {
    const root = machine(LOADER, "dev/nvidiactl");
    const NVIDIA_DRIVER_CAPABILITIES = "compute,utility";
    expect(vulkanAdvice({ NVIDIA_DRIVER_CAPABILITIES }, root)).toContain(
      "the card for compute,utility alone: start it with NVIDIA_DRIVER_CAPABILITIES=all",
    );
    for (const enough of ["all", "compute,graphics"])
      expect(vulkanAdvice({ NVIDIA_DRIVER_CAPABILITIES: enough }, root)).toMatch(
        /^no driver's manifest/,
      );
  });

  it("a manifest, or the one that VK_DRIVER_FILES names", () => {
    expect(vulkanAdvice({}, machine(LOADER))).toMatch(/^no driver's manifest was found/);
    const root = machine(LOADER, MANIFEST);
    expect(vulkanAdvice({}, root)).toBeNull();
    expect(vulkanAdvice({ VK_DRIVER_FILES: `/${MANIFEST}` }, root)).toBeNull();
    expect(vulkanAdvice({ VK_ICD_FILENAMES: "/none.json" }, root)).toBe(
      "VK_DRIVER_FILES names no file that exists (/none.json)",
    );
  });
});
