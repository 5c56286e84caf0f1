import { z } from "../base/schema.ts";
import { pythonPool } from "../sandbox/python-pool.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** The share of tests that pass; by default 1 where all do, else 0. */
  share: z.boolean().default(false),
  /** Longest run of the program and its tests together, in seconds. */
  seconds: z.number().min(0.1).max(600).default(5),
  memoryMb: z.int().min(64).max(4096).default(256),
  /** Interpreters side by side. */
  processes: z.int().min(1).max(64).default(2),
});

/** A Python expression that calls the answer's function, and the text that `repr` gives of its value. */
const functionTest = z.object({ call: z.string().min(1), value: z.string() });
export type FunctionTest = z.output<typeof functionTest>;

/** Sessions of this process have names of their own. */
let opened = 0;

/**
 * Whether the answer is a Python program whose functions pass the question's tests (`annotations.tests`), which the policy does not see. The
 * program runs first; a program that fails, runs too long or breaks its interpreter passes none. Answers may stand in a fence.
 * @returns null: the question has no tests.
 *
 * Source: unit tests as the verifier of code, as in START (arXiv 2503.04625). Different here: values are compared as `repr` writes them.
 */
export const passesTests = defineReward({
  name: "passes-tests",
  summary: "1 if the answer, a Python program, passes the question's hidden tests, else 0.",
  range: [0, 1],
  source: "START, arXiv 2503.04625, test cases",
  options,
  async score({ task, trajectory }, { share, processes, ...limits }, { signal }) {
    const tests = z.array(functionTest).min(1).safeParse(task.annotations["tests"]).data;
    if (tests === undefined) return null;
    if (trajectory.answer === null) return 0;
    const pool = pythonPool(processes, { ...limits, isolation: "auto", outputCharacters: 100_000 });
    const session = `tests${opened++}`;
    const program = unfenced(trajectory.answer);
    const run = (...programs: string[]) =>
      pool.run({ programs, seed: 0, session, answers: true }, signal);
    try {
      const own = await run(program);
      if (typeof own === "string" || own.error !== null) return 0;
      const outcome = await run(program, driver(tests.map(({ call }) => call)));
      if (typeof outcome === "string" || outcome.error !== null) return 0;
      const values = (outcome.answer ?? "").split("\n");
      const passed = tests.filter(({ value }, i) => values[i] === value).length;
      return share ? passed / tests.length : Number(passed === tests.length);
    } finally {
      pool.close(session);
    }
  },
});

function unfenced(answer: string): string {
  return /```(?:python|py)?\n(.*?)\n?```/s.exec(answer)?.[1] ?? answer;
}

/** Each call by itself, so that one that fails is one that is not passed. */
function driver(calls: readonly string[]): string {
  const tried = calls.map(
    (call) => `try:\n  _values.append(repr(${call}))\nexcept BaseException:\n  _values.append("")`,
  );
  return ["_values = []", ...tried, `final_answer("\\n".join(_values))`].join("\n");
}
