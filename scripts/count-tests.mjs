// Prints "N passed, N failed" from vitest's JSON report. A file that does not load counts as one failure.
import { existsSync, readFileSync } from "node:fs";

const path = process.argv[2] ?? "";
const report = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
const unloaded =
  report?.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  ).length ?? 1;
console.log(
  `${report?.numPassedTests ?? 0} passed, ${(report?.numFailedTests ?? 0) + unloaded} failed`,
);
