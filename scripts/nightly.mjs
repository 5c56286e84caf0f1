// npm run test:nightly [-- --minutes 10] [--only soak]: what takes too long for every change, one after the other: faults with 50 kills, other
// people's SDKs, and a soak of some minutes each of a training and of both servers. One summary; status 1 if anything failed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, only: { type: "string", default: "" } },
});
const root = join(import.meta.dirname, "..");
const reports = mkdtempSync(join(tmpdir(), "agentrl-nightly-"));

/** What may be more at the end of a soak than after its start: caches and heaps still fill in some minutes. */
const MORE = { residentMegabytes: 300, descriptors: 3, threads: 2 };

const parts = [
  ["faults", () => tested("faults")],
  ["SDKs", () => tested("sdk")],
  ...["train", "serve", "serve-policy"].map((of) => [`soak of ${of}`, () => soaked(of)]),
];

const summary = [];
for (const [name, run] of parts.filter(([name]) => name.includes(values.only))) {
  console.log(`\n── ${name}`);
  const begun = performance.now();
  const { problem, told } = run();
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  summary.push({ name, problem, line: `${name}: ${problem ?? told} (${minutes} min)` });
}
rmSync(reports, { recursive: true });

const failed = summary.filter(({ problem }) => problem !== null);
console.log(`\n${summary.map(({ line }) => line).join("\n")}`);
console.log(`${summary.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

function tested(project) {
  const report = join(reports, `${project}.json`);
  const { status } = spawnSync(
    process.execPath,
    [
      join(root, "node_modules", "vitest", "vitest.mjs"),
      ...["run", "--config", "vitest.nightly.config.ts", "--project", project],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    ],
    { cwd: root, stdio: "inherit", env: { FAULT_KILLS: "50", ...process.env } },
  );
  if (!existsSync(report)) return { problem: `no report, status ${status}` };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
  const skipped = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status: of }) => of === "skipped" || of === "pending");
  for (const { fullName } of skipped) console.log(`skipped  ${fullName}`);
  const told = `${numPassedTests} passed, ${numFailedTests} failed, ${skipped.length} skipped`;
  return { problem: status === 0 ? null : told, told };
}

function soaked(of) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(root, "bench", "run.mjs"),
      ...["soak", "--of", of, "--tier", "smoke", "--minutes", values.minutes, "--every", "5"],
      "--json",
    ],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" },
  );
  if (status !== 0) return { problem: `ended with ${status}` };
  const { progress, figures } = JSON.parse(stdout);
  const grown = Object.entries(figures).flatMap(([name, { early, late }]) =>
    late - early <= MORE[name] ? [] : [`${name} ${early} → ${late}`],
  );
  if (progress === 0) grown.push("nothing was done");
  return { problem: grown.length === 0 ? null : grown.join(", "), told: `${progress} done` };
}
