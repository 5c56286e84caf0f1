// The built command line as a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const binary = join(import.meta.dirname, "../../bin/agentrl.js");

/** Runs a command to its end. */
export async function agentrl(...args) {
  const child = spawn(process.execPath, [binary, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`agentrl ${args.join(" ")} ended with ${status}`);
}

/** Starts `agentrl serve` on a free port. */
export async function startServer(index, ...flags) {
  const args = [binary, "serve", "--index", index, "--port", "0", "--json", "--quiet", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const line = await Promise.race([
    once(child.stdout, "data"),
    ended.then(([status]) => {
      throw new Error(`agentrl serve ended with ${status}`);
    }),
  ]);
  const { url, fingerprint, passages } = JSON.parse(line[0]);
  return {
    ...{ url, fingerprint, passages },
    stats: async () => (await fetch(`${url}/stats`)).json(),
    /** @returns its exit status. */
    stop: async () => {
      child.kill("SIGTERM");
      const [status] = await ended;
      return status;
    },
    kill: () => child.kill("SIGKILL"),
  };
}

/** Asks for /health every 50 ms until stopped; the waits are in milliseconds. */
export function watchHealth(url) {
  const waits = [];
  let going = true;
  const watching = (async () => {
    while (going) {
      const start = performance.now();
      await (await fetch(`${url}/health`)).text();
      waits.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return async () => {
    going = false;
    await watching;
    waits.sort((a, b) => a - b);
    const at = (share) => Number(waits[Math.ceil(share * waits.length) - 1].toFixed(1));
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  };
}
