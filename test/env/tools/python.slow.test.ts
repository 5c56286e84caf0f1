import { describe, expect, it } from "vitest";
import { type OpenToolbox, openToolbox, toolsSchema } from "../../../src/env/tools/toolbox.ts";
import { pythonPool } from "../../../src/sandbox/python-pool.ts";
import type { PythonLimits } from "../../../src/sandbox/python-process.ts";
import {
  callTool,
  corpus,
  replay,
  rolloutOptions,
  task,
  tokenizer,
} from "../../helpers/search-world.ts";
import { runNode } from "../../helpers/run-node.ts";
import { lintContextOf } from "../../../src/rollout/lint-context.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { openLint } from "../../../src/trajectory/lint/open-lint.ts";
import { environments } from "../../../src/worlds/datasets.ts";

const python = { name: "python", processes: 1 };
const { signal } = new AbortController();

function opened(settings: object): OpenToolbox {
  const toolbox = openToolbox(toolsSchema.parse([settings]), { retriever: corpus });
  return toolbox.open({ trajectoryId: "one", task, seed: 1 });
}

async function run(session: OpenToolbox, input: string) {
  return session.call({ tool: "python", input }, { turn: 0, signal });
}

describe("the tool python", () => {
  it("shows what a program prints", async () => {
    const code = "for i in range(3):\n  print(i * i)";
    expect(await callTool(python, code)).toEqual({ tool: "python", text: "0\n1\n4" });
    expect((await callTool(python, "x = 5")).text).toBe("(nothing was printed)");
  });

  it("shows an exception as an interpreter would, after what was printed", async () => {
    const { text, problem } = await callTool(
      python,
      "print('so far')\ndef f():\n  return 1 / 0\nf()",
    );
    expect(problem).toEqual({ code: "python-error", message: "ZeroDivisionError" });
    expect(text).toBe(
      'so far\nFile "<python>", line 4, in <module>\n  File "<python>", line 3, in f\nZeroDivisionError: division by zero',
    );
  });

  it("gives every call fresh names, and equal episodes equal random numbers and hashes", async () => {
    expect((await callTool(python, "x = 1\nprint(x)")).text).toBe("1");
    expect((await callTool(python, "print(x)")).problem?.message).toBe("NameError");
    const drawn = "import random\nprint(random.random(), hash('a'), {'b', 'a', 'c'}, object())";
    expect(await callTool(python, drawn)).toEqual(await callTool(python, drawn));
  });

  it.each([
    "import numpy",
    "from math import *\nprint(sqrt(2))",
    "import sys\nsys.setrecursionlimit(5000)\nprint(sys.maxsize)",
    "from dataclasses import dataclass\n@dataclass\nclass A:\n  x: int\nprint(A(1))",
    "class A:\n  def __init__(self): self.x = 1\nprint(A().x, getattr(A(), 'x'))",
    "from decimal import Decimal, getcontext\ngetcontext().prec = 50\nprint(Decimal(2).sqrt())",
    "from functools import lru_cache\n@lru_cache(None)\ndef f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(50))",
    "open('a', 'w').write('b')\nprint(open('a').read())",
    "import random, itertools, json\nprint(json.dumps([random.gauss(0, 1), list(itertools.permutations([1, 2]))]))",
    "print(1",
  ])("keeps its interpreter after a usual program: %j", async (code) => {
    const limits = { seconds: 5, memoryMb: 256, outputCharacters: 100, isolation: "process" };
    const pool = pythonPool(1, limits as PythonLimits);
    const outcome = await pool.run({ programs: [code], seed: 1 }, signal);
    expect(outcome).toMatchObject({ tainted: false });
  });

  it("lets a process end whose interpreter waits for the next program", async () => {
    const script = `
      import { pythonPool } from "./dist/sandbox/python-pool.js";
      const limits = { seconds: 5, memoryMb: 256, outputCharacters: 100, isolation: "process" };
      const { signal } = new AbortController();
      const { text } = await pythonPool(1, limits).run({ programs: ["print(2 + 3)"], seed: 0 }, signal);
      process.stdout.write(text);`;
    expect(await runNode(script)).toBe("5\n");
  });

  it("ends a program by its time limit, and the next one runs", async () => {
    const quick = { ...python, seconds: 0.3 };
    const { problem } = await callTool(quick, "while True: pass");
    expect(problem?.code).toBe("time-limit");
    expect((await callTool(quick, "print(6 * 7)")).text).toBe("42");
  });
});

describe("a persistent session", () => {
  const notebook = { ...python, persistent: true, seconds: 0.5 };

  it("keeps names, random state and files, and a fork goes its own way", async () => {
    const session = opened(notebook);
    await run(session, "import random\nx = [random.random()]\nopen('a', 'w').write('kept')");
    const fork = session.fork();
    await run(session, "x.append(random.random())");
    await run(fork, "x.append('fork')");
    expect((await run(session, "print(len(x), x[0] != x[1], open('a').read())")).text).toBe(
      "2 True kept",
    );
    expect((await run(fork, "print(len(x), x[1])")).text).toBe("2 fork");
    await session.close();
  });

  it("goes on in the same interpreter when another one is closed", async () => {
    const [session, other] = [opened(notebook), opened(notebook)];
    const { text } = await run(session, "import time\nbegan = time.time_ns()\nprint(began)");
    await run(other, "x = 1");
    await other.close();
    expect((await run(session, "print(began)")).text).toBe(text);
    await session.close();
  });

  it("has its state again after an interpreter was ended", async () => {
    const session = opened(notebook);
    await run(session, "x = 5");
    expect((await run(session, "while True: x += 1")).problem?.code).toBe("time-limit");
    expect((await run(session, "print(x)")).text).toBe("5");
    await session.close();
  });
});

describe("final_answer", () => {
  const tool = { ...python, finalAnswer: true };

  it("ends the program, and is the answer as text", async () => {
    const found = await callTool(tool, "print('so')\nfinal_answer(6 * 7)\nprint('never')");
    expect(found).toEqual({ tool: "python", text: "so", answer: "42" });
    expect(await callTool(tool, "print(1)")).toEqual({ tool: "python", text: "1" });
    expect((await callTool(python, "final_answer(1)")).problem?.message).toBe("NameError");
  });

  it("ends the episode with that answer, which lint finds again", async () => {
    const environment = environments
      .get("tool-qa", "test")
      .create(
        {
          tools: [tool],
          protocol: {
            name: "tags",
            callTags: { python: { opening: "```py\n", closing: "\n```<end_code>" } },
          },
        },
        { retriever: corpus, budgets: [] },
      );
    const policy = replay(["```py\nx = 'Oslo'\nfinal_answer(x)\n```<end_code>"]);
    const trajectory = await rollOut(rolloutOptions({ policy, environment }));
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    const lint = openLint(
      {
        textOf: ({ ids }) => tokenizer.decode(ids),
        endIds: tokenizer.endIds,
        vocabSize: tokenizer.vocabSize,
        contextOf: () => lintContextOf({ environment, strategy: "agent", temperature: 0 }),
      },
      { keep: 3 },
    );
    lint.line(JSON.parse(JSON.stringify(trajectory)), 1);
    expect(lint.report().violations).toEqual([]);
  });
});
