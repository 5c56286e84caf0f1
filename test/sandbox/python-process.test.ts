import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { startPython } from "../../src/sandbox/python-process.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const limits = { seconds: 1, memoryMb: 64, outputCharacters: 100, isolation: "process" } as const;
const folder = temporaryFolder();

it("says what an interpreter that doesn't start wrote", async () => {
  const started = startPython(limits, join(folder, "absent.js"));
  await expect(started).rejects.toMatchObject({
    code: "PYTHON_NOT_STARTED",
    message: expect.stringContaining("absent.js") as string,
  });
});

it("refuses to run without bubblewrap where it is asked for and absent", async () => {
  vi.stubEnv("PATH", folder);
  await expect(startPython({ ...limits, isolation: "bubblewrap" })).rejects.toMatchObject({
    code: "BUBBLEWRAP_ABSENT",
  });
  vi.unstubAllEnvs();
});
