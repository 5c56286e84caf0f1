import { execFileSync } from "node:child_process";
import { it } from "vitest";

it("the compiled kernels are those of the .wat files", () => {
  execFileSync(process.execPath, ["scripts/compile-kernels.mjs", "--check"], { stdio: "pipe" });
});
