import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder of the test file's own, removed after its last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "agentrl-test-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
