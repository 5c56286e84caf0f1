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

/** Starts `agentrl serve` over an index. */
export async function startServer(index, ...flags) {
  const server = await startServing(["--index", index, ...flags]);
  return { ...server, stats: async () => (await fetch(`${server.url}/stats`)).json() };
}

/** Starts `agentrl serve` on a free port, with what --json printed. */
export async function startServing(flags) {
  const args = [binary, "serve", ...flags, "--port", "0", "--json", "--quiet"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close").then(([status]) => status);
  const line = await Promise.race([
    once(child.stdout, "data"),
    ended.then((status) => {
      throw new Error(`agentrl serve ended with ${status}`);
    }),
  ]);
  return {
    ...JSON.parse(line[0]),
    ...{ pid: child.pid, ended },
    /** @returns its exit status. */
    stop: () => {
      child.kill("SIGTERM");
      return ended;
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
