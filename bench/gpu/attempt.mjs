// Runs one attempt in a process of its own and gathers its rows.
import { fork, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** How much of what a process says on stderr is kept: its end tells why it died. */
const KEPT = 2000;

/** @returns rows, and why there are no more of them: `failed`, absent where all went well. */
export function measureApart(job, limitMs) {
  const child = fork(fileURLToPath(new URL("./child.mjs", import.meta.url)), {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const found = { rows: [] };
  child.on("message", ({ row, done, failed, code }) => {
    if (row !== undefined) found.rows.push(row);
    if (failed !== undefined) Object.assign(found, { failed, code });
    if (done !== undefined) Object.assign(found, done, { ended: true });
  });
  child.send(job);
  return ended(child, found, limitMs);
}

/** The same with Python: rows are lines on stdout. */
export function measureWithPython(python, job, limitMs) {
  const script = fileURLToPath(new URL("./torch-peer.py", import.meta.url));
  const child = spawn(python, [script, JSON.stringify(job)], { stdio: ["ignore", "pipe", "pipe"] });
  const found = { rows: [] };
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const row = JSON.parse(line);
    if (row.versions !== undefined) found.versions = row.versions;
    else if (row.kind === undefined) found.failed = row.failed;
    else found.rows.push(row);
  });
  return ended(child, found, limitMs);
}

async function ended(child, found, limitMs) {
  let said = "";
  child.stderr.on("data", (text) => (said = (said + text).slice(-KEPT)));
  child.on("error", (error) => {
    found.failed ??= error.message;
  });
  const over = new AbortController();
  const closing = new Promise((resolve) => child.on("close", (...how) => resolve(how)));
  const late = setTimeout(limitMs, null, { signal: over.signal }).then(
    () => {
      found.failed = `no end within ${Math.round(limitMs / 1000)} s (--limit, --budget); --rows 1 asks for less`;
      found.late = true;
      child.kill("SIGKILL");
    },
    () => undefined,
  );
  const [code, signal] = await closing;
  over.abort();
  await late;
  const { ended: orderly = false, ...result } = found;
  if (!orderly && (code !== 0 || signal !== null)) {
    const last = said.trim().split("\n").at(-1) ?? "";
    result.failed ??= `its process ended (${signal ?? `code ${code}`}): ${last}`;
  }
  return result;
}
