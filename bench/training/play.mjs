import { createInterface } from "node:readline";

/** A contender's side of players.mjs: says that it is ready; then `turn()` as often as each line says, until there is none. */
export async function play(ready, turn) {
  say(ready);
  for await (const line of createInterface({ input: process.stdin })) {
    const { times = 1 } = JSON.parse(line);
    const [wall, processor] = [performance.now(), process.cpuUsage()];
    let more;
    for (let i = 0; i < times; i++) more = await turn();
    const seconds = (performance.now() - wall) / 1000 / times;
    const { user, system } = process.cpuUsage(processor);
    say({ ...more, seconds, processorSeconds: (user + system) / 1e6 / times });
  }
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
