// Prints "N passed, N failed" over vitest's JSON reports. A file that does not load counts as one failure, as does a missing report.
import { existsSync, readFileSync } from "node:fs";

let passed = 0;
let failed = 0;
for (const path of process.argv.slice(2)) {
  if (!existsSync(path)) {
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(path, "utf8"));
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  passed += report.numPassedTests;
  failed += report.numFailedTests + unloaded.length;
}
console.log(`${passed} passed, ${failed} failed`);
