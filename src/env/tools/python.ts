import { once } from "../../base/once.ts";
import { seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { serverAddress } from "../../http/http-options.ts";
import { pythonPool, type PythonPool } from "../../sandbox/python-pool.ts";
import type { PythonOutcome } from "../../sandbox/python-process.ts";
import type { sandboxFusion } from "./sandbox-fusion.ts";
import { defineTool, type Found, type ToolCall, type ToolSession } from "./tool.ts";

const options = z.strictObject({
  /** Names, imports and files of a call stay for the next calls of its episode, as in a notebook. By default each call begins anew. */
  persistent: z.boolean().default(false),
  /** A program may call final_answer(value), which ends it and the episode: smolagents' way to answer (agent distillation, arXiv 2505.17612). */
  finalAnswer: z.boolean().default(false),
  /** Longest run of a program, in seconds of processor time where the system tells it. */
  seconds: z.number().min(0.1).max(600).default(5),
  memoryMb: z.int().min(64).max(4096).default(256),
  /** What is printed beyond is dropped; `budgets` cut what the policy sees. */
  outputCharacters: z.int().min(1).default(10_000),
  /** Interpreters side by side; each takes some 200 MB. With `server`: requests at once. */
  processes: z.int().min(1).max(64).default(2),
  /** auto: Linux namespaces by bubblewrap where that program works. bubblewrap: an error where it does not. process: never. */
  isolation: z.enum(["auto", "bubblewrap", "process"]).default("auto"),
  /**
   * Address of a SandboxFusion server that runs the programs with its own Python and packages, in place of the interpreters here. It keeps no
   * session: with `persistent` each call runs the earlier programs again, and `seconds` holds for all of them. `isolation` has no effect.
   */
  server: serverAddress.optional(),
});

/**
 * Runs a program of the policy: CPython 3.14 and its standard library as WebAssembly, in a process of its own without files, network and
 * environment. The observation is what it printed, and its exception. `random` has the episode's seed, and hashes are fixed, so equal
 * episodes give equal observations; a program that runs near its time limit may not. With `server` a SandboxFusion server runs it, where
 * hashes are not fixed.
 *
 * Source: the code interpreters of ReTool (arXiv 2504.11536), ToRL (arXiv 2503.23383) and START (arXiv 2503.04625). Different here: no
 * package beside the standard library.
 */
export const python = defineTool({
  name: "python",
  summary: "Runs a Python program, and shows what it prints.",
  description: "Runs a Python program and shows what it prints.",
  example: { good: "print(6 * 7)", bad: "print(6 *" },
  parameters: z.object({ code: z.string() }),
  options,
  create({ processes, persistent, finalAnswer, server, ...limits }) {
    const pool =
      server === undefined
        ? pythonPool(processes, limits)
        : served(server, { ...limits, requests: processes });
    const used: PythonPool = finalAnswer
      ? { ...pool, run: (request, signal) => pool.run({ ...request, answers: true }, signal) }
      : pool;
    return {
      open: ({ seed }) => (persistent ? notebook(used, { seed, programs: [] }) : fresh(used, seed)),
    };
  },
});

/** The server's client is loaded with the first program. */
function served(...args: Parameters<typeof sandboxFusion>): PythonPool {
  const opened = once(async () => (await import("./sandbox-fusion.ts")).sandboxFusion(...args));
  return { run: async (...asked) => (await opened())(...asked), close: () => undefined };
}

type Call = (given: { code: string }, at: ToolCall) => Promise<Found>;

function fresh(pool: PythonPool, seed: number): ToolSession<{ code: string }> {
  const call: Call = async ({ code }, { signal, turn }) =>
    found(await pool.run({ programs: [code], seed: seedFrom(seed, turn) }, signal));
  const session: ToolSession<{ code: string }> = { call, fork: () => session };
  return session;
}

interface Notebook {
  seed: number;
  programs: string[];
}

/** Sessions of this process have names of their own: a trajectory may be rolled out twice at a time. */
let opened = 0;

/** A session by its programs: an interpreter that doesn't know it runs them again. */
function notebook(pool: PythonPool, state: Notebook): ToolSession<{ code: string }> {
  const session = `s${opened++}`;
  let { programs } = state;
  const call: Call = async ({ code }, { signal }) => {
    const outcome = await pool.run(
      { programs: [...programs, code], seed: state.seed, session },
      signal,
    );
    // What ended its interpreter would end it again.
    if (typeof outcome === "object") programs = [...programs, code];
    return found(outcome);
  };
  return {
    call,
    fork: () => notebook(pool, { ...state, programs }),
    close: () => {
      pool.close(session);
    },
  };
}

const ENDED = {
  "time-limit": "TimeoutError: the program ran too long.",
  crash: "SystemError: the interpreter ended.",
};

function found(outcome: PythonOutcome): Found {
  if (typeof outcome === "string") {
    const message = ENDED[outcome];
    return { text: message, problem: { code: outcome, message } };
  }
  const { text, cut, error, answer } = outcome;
  const own = answer === undefined ? {} : { answer };
  const printed = `${text.trimEnd()}${cut ? "\n… (more was printed)" : ""}`;
  if (error === null) return { text: printed === "" ? "(nothing was printed)" : printed, ...own };
  const [name, message] = error;
  const shown = [printed, message].filter((each) => each !== "").join("\n");
  return { text: shown, problem: { code: "python-error", message: name } };
}
