import { describe, expect, it } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import type { CliCommand, CliContext } from "../../src/cli/command.ts";
import type { CliIo } from "../../src/cli/io.ts";
import { runCommands } from "../../src/cli/main.ts";
import { painted, piece } from "../../src/view/styled.ts";
import {
  addOptions,
  decimal,
  jsonFlag,
  outFlag,
  seedFlag,
  setFlag,
} from "../../src/cli/options.ts";
import { naming } from "../helpers/naming.ts";

interface Run {
  out: string;
  err: string;
  status: number;
}

/** Runs `probe …` with an action of the test's own, in this process. */
async function run(
  args: string[],
  action: (
    context: CliContext,
    options: Record<string, unknown>,
    stop: (reason: "interrupt" | "pipe-closed") => void,
  ) => unknown,
  outTerminal = true,
): Promise<Run> {
  let out = "";
  let err = "";
  let stop: (reason: "interrupt" | "pipe-closed") => void = () => undefined;
  const io: CliIo = {
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: true,
    outTerminal,
    width: 80,
    call: "agentrl",
    onStop: (listener) => {
      stop = listener;
      return () => undefined;
    },
  };
  const probe: CliCommand = {
    name: "probe",
    register(program, context) {
      const table = {
        seed: seedFlag(),
        set: setFlag(),
        out: outFlag("where"),
        rate: ["<x>", "a rate", decimal(0, 1)],
        json: jsonFlag(),
      } as const;
      addOptions(program.command("probe").summary("probe"), table).action(
        async (options: Record<string, unknown>) => {
          await action(context, options, stop);
        },
      );
    },
  };
  const status = await runCommands(["probe", ...args], [{ title: "Test", commands: [probe] }], io);
  return { out, err, status };
}

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe("what is printed", () => {
  const hostile = "a\u001b[31mb\u202e\rc";
  const shown = "a\\u001b[31mb\\u202e\\u000dc";

  it("shows control sequences of data, and has those of its own styles", async () => {
    const { out, err } = await run([], ({ out: print, note, document }) => {
      print(hostile);
      document(hostile);
      note(hostile);
      note(painted([[piece(hostile, "bad")]], true));
    });
    expect(out).toBe(`${shown}\n${shown}\n`);
    expect(err).toBe(`${shown}\n\u001b[1;31m${shown}\u001b[0m\n`);
  });

  it("shows them in errors and in what commander says", async () => {
    const failed = await run([], () => {
      throw new DataError("FILE_MISSING", hostile);
    });
    expect(failed.err).toBe(`error: ${shown} [FILE_MISSING]\n`);
    const misused = await run([`--${hostile}`], () => undefined);
    expect(misused.err).toContain(shown);
    const bug = await run([], () => {
      throw new Error(hostile);
    });
    expect(bug.err).toContain(shown);
    expect(bug.err).not.toContain("\u001b");
  });

  it("leaves a document as it is in a pipe, and the value of JSON everywhere", async () => {
    const action = ({ out: print, document }: CliContext): void => {
      document(hostile);
      print(JSON.stringify({ hostile }));
    };
    const { out } = await run([], action, false);
    const [document = "", json = ""] = out.split("\n");
    expect(document).toBe(hostile);
    expect(JSON.parse(json)).toEqual({ hostile });
    expect(json).not.toContain("\u202e");
  });
});

describe("main", () => {
  it("sends results to stdout and everything else to stderr, each with a final newline", async () => {
    const result = await run([], ({ out, note }) => {
      note("working");
      out("42");
      out("43\n");
    });
    expect(result).toEqual({ out: "42\n43\n", err: "working\n", status: 0 });
  });

  it("keeps notes and progress back under --quiet, before or after the command's own options", async () => {
    const terminals: boolean[] = [];
    const result = await run(["--seed", "3", "--quiet"], (context) => {
      terminals.push(context.terminal);
      context.note("working");
    });
    expect(result.err).toBe("");
    expect(terminals).toEqual([false]);
  });

  it("parses the shared options", async () => {
    let seen: unknown;
    await run(
      ["--seed", "3", "--set", "a=1", "--set", "b=2", "--out", "x", "--rate", "0.5"],
      (_, options) => {
        seen = options;
      },
    );
    expect(seen).toEqual({ seed: 3, set: ["a=1", "b=2"], out: "x", rate: 0.5 });
  });

  it("says what a number option allows", async () => {
    const nothing = (): void => undefined;
    expect((await run(["--seed", "-1"], nothing)).err).toMatch(naming("option", "-1", "[USAGE]"));
    expect((await run(["--seed", "1.5"], nothing)).status).toBe(2);
    expect((await run(["--rate", "2"], nothing)).err).toMatch(
      naming("option", "2", "0", "[USAGE]"),
    );
  });

  it("prints a known error without a stack", async () => {
    const result = await run([], () => {
      throw new DataError("FILE_MISSING", "a.jsonl: cannot be read.");
    });
    expect(result).toEqual({
      out: "",
      err: "error: a.jsonl: cannot be read. [FILE_MISSING]\n",
      status: 3,
    });
  });

  it("adds stacks and causes under --debug", async () => {
    const { err } = await run(["--debug"], () => {
      throw new DataError("FILE_MISSING", "outer.", { cause: new TypeError("inner") });
    });
    expect(err).toMatch(
      /^error: outer\. \[FILE_MISSING\]\nDataError: outer\.\n {4}at [^]*\ncaused by TypeError: inner\n {4}at /,
    );
  });

  it("owns up to a bug, with everything that a report needs", async () => {
    const { err, status } = await run([], () => {
      throw new TypeError("x is not a function");
    });
    expect(status).toBe(1);
    expect(err).toMatch(/this is a bug in agentrl, not in what you did: x is not a function/);
    expect(err).toMatch(/agentrl \d+\.\d+\.\d+, Node v\d+/);
    expect(err).toMatch(/\n {4}at /);
  });

  it("ends with 130 when an interrupted command throws the reason, wrapped or not", async () => {
    for (const wrap of [false, true]) {
      const result = await run([], async ({ signal }, _, stop) => {
        stop("interrupt");
        await settle();
        if (wrap) throw new Error("stopped", { cause: signal.reason });
        signal.throwIfAborted();
      });
      expect(result.status).toBe(130);
      expect(result.err).toMatchInlineSnapshot(`
        "
        Interrupted: saving finished work. A second Ctrl-C stops at once.
        "
      `);
    }
  });

  it("answers an interruption under --json with one JSON document, unless the result is printed", async () => {
    const interrupted = (...printed: string[]): Promise<Run> =>
      run(["--json"], ({ signal, out }, _, stop) => {
        for (const text of printed) out(text);
        stop("interrupt");
        signal.throwIfAborted();
      });
    const { out, status } = await interrupted();
    expect(status).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect((await interrupted("{}")).out).toBe("{}\n");
    const silent = await run(["--json"], (_context, _options, stop) => {
      stop("pipe-closed");
    });
    expect(silent).toEqual({ out: "", err: "", status: 141 });
  });

  it("still reports an error that is not the interruption", async () => {
    const result = await run([], (_context, _options, stop) => {
      stop("interrupt");
      throw new DataError("FILE_MISSING", "a.jsonl: cannot be read.");
    });
    expect(result.status).toBe(3);
    expect(result.err).toContain("[FILE_MISSING]");
  });

  it("ends silently when the reader went away", async () => {
    const result = await run([], ({ signal }, _, stop) => {
      stop("pipe-closed");
      signal.throwIfAborted();
    });
    expect(result).toEqual({ out: "", err: "", status: 141 });
  });
});
