import { writeFileSync, readFileSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrap } from "../../src/sandbox/bubblewrap.ts";
import { pythonPool } from "../../src/sandbox/python-pool.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();
const secret = join(folder, "secret");
const SECRET = "the-secret-of-the-host";
const { signal } = new AbortController();

let connections = 0;
let server: Server;
let port = 0;

beforeAll(async () => {
  writeFileSync(secret, SECRET);
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address !== null && typeof address === "object") port = address.port;
});

afterAll(() => {
  server.close();
});

/** A program of plain use, whose result any change of the interpreter would change. */
const NEXT = `
import math, random, json, fractions, decimal, builtins
print(math.pi, len([1, 2]), json.dumps({"a": 1}), fractions.Fraction(1, 3) + 1, decimal.Decimal(1) / 3, random.random())
`;

/** Runs programs, each followed by one of plain use, in every isolation that this machine has. */
export function testHostile(programs: readonly { kind: string; text: string }[]): void {
  describe.each([
    { isolation: "process", absent: false },
    { isolation: "bubblewrap", absent: bubblewrap([]) === null },
  ] as const)("hostile programs, isolation $isolation", ({ isolation, absent }) => {
    const limits = { seconds: 0.5, memoryMb: 192, isolation };
    // A program and the one after it go to the same interpreter.
    const pools = [2000, 2001].map((outputCharacters) =>
      pythonPool(1, { ...limits, outputCharacters }),
    );
    const filled = (text: string): string =>
      text.replaceAll("PATH", secret).replaceAll("FOLDER", folder).replaceAll("PORT", String(port));

    it.skipIf(absent)(
      "end by their limits, reach nothing of the host, and change nothing for the next one",
      async () => {
        const found: unknown[] = [];
        const queue = [...programs];
        await Promise.all(
          pools.map(async (pool) => {
            const run = (text: string) => pool.run({ programs: [text], seed: 7 }, signal);
            const usual = await run(NEXT);
            expect(usual).toMatchObject({ error: null });
            for (let program = queue.shift(); program !== undefined; program = queue.shift()) {
              const shown = JSON.stringify(await run(filled(program.text)));
              const next = await run(NEXT);
              const reached = [SECRET, "forged", String(process.pid)].filter((each) =>
                shown.includes(each),
              );
              const isSame = JSON.stringify(next) === JSON.stringify(usual);
              if (!isSame || reached.length > 0 || shown.length > 20_000)
                found.push({ ...program, reached, shown: shown.slice(0, 300), next });
            }
          }),
        );
        expect(connections).toBe(0);
        expect(found).toEqual([]);
        expect(readFileSync(secret, "utf8")).toBe(SECRET);
        expect(readdirSync(folder)).toEqual(["secret"]);
      },
      900_000,
    );
  });
}
