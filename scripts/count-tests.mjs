// Prints the slowest files, the failed tests, then "N passed, N failed", over vitest's JSON reports. A file that does not load counts as one
// failure, as does a missing report.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const SLOWEST = 40;

let passed = 0;
const files = [];
const failures = [];
for (const path of process.argv.slice(2)) {
  if (!existsSync(path)) {
    failures.push(`${path}: no report`);
    continue;
  }
  const report = JSON.parse(readFileSync(path, "utf8"));
  passed += report.numPassedTests;
  for (const {
    name,
    status,
    message,
    assertionResults,
    startTime,
    endTime,
  } of report.testResults) {
    const file = relative(process.cwd(), name);
    files.push({ file, seconds: (endTime - startTime) / 1000 });
    const failed = assertionResults.filter((test) => test.status === "failed");
    for (const test of failed) {
      failures.push(`${file} > ${test.fullName}\n${test.failureMessages.join("\n")}`);
    }
    if (status === "failed" && assertionResults.length === 0) failures.push(`${file}: ${message}`);
  }
}
const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
console.log(slowest.map(({ file, seconds }) => `${seconds.toFixed(0)} s ${file}`).join("\n"));
// The reports of the runs are long, and who reads a log reads its end.
for (const failure of failures) console.log(`FAILED ${failure}\n`);
console.log(`${passed} passed, ${failures.length} failed`);
