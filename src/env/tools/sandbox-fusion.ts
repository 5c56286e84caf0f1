import { randomUUID } from "node:crypto";
import { RolloutError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { httpClient } from "../../http/client.ts";
import { httpShape } from "../../http/http-options.ts";
import type { PythonPool } from "../../sandbox/python-pool.ts";
import type { PythonLimits, PythonOutcome } from "../../sandbox/python-process.ts";

/** Milliseconds for a request to wait at the server, beside its program. */
const QUEUE_MS = 60_000;

const run = z.object({
  status: z.enum(["Finished", "Error", "TimeLimitExceeded"]),
  return_code: z.number().nullish(),
  stdout: z.string().nullish(),
});

const replySchema = z.object({
  status: z.enum(["Success", "Failed", "SandboxError"]),
  message: z.string().default(""),
  run_result: run.nullish(),
});

const endingSchema = z.tuple([z.tuple([z.string(), z.string()]).nullable(), z.string().optional()]);

type Reply = z.output<typeof replySchema>;

/**
 * Runs programs on a SandboxFusion server: POST /run_code. It keeps no session, so earlier programs run again, without their output.
 * @param limits.seconds of all programs of a request together, by the server's clock.
 * @param limits.requests at once.
 * Source: bytedance/SandboxFusion, sandbox/server/sandbox_api.py.
 */
export function sandboxFusion(
  url: string,
  limits: Omit<PythonLimits, "isolation"> & { requests: number },
): PythonPool["run"] {
  const { seconds, memoryMb, outputCharacters, requests } = limits;
  const timeoutMs = seconds * 1000 + QUEUE_MS;
  const http = { concurrency: requests, timeoutMs, deadlineMs: 2 * timeoutMs };
  const settings = z.object(httpShape).parse(http);
  const client = httpClient({ name: "tool python", url, settings, nameOf: () => null });
  const shared = { language: "python", run_timeout: seconds, memory_limit_MB: memoryMb };
  return async ({ programs, seed, answers = false }, signal) => {
    const mark = randomUUID();
    const body = { ...shared, code: driver(programs, { seed, mark, answers }) };
    const asked = { path: "/run_code", body, idempotent: true, signal };
    const { value } = await client.json(asked, replySchema);
    return outcomeOf(value, { url, mark, outputCharacters });
  };
}

/** Runs all programs with the same names; the exception and the answer of the last one follow a mark behind its output. */
function driver(
  programs: readonly string[],
  { seed, mark, answers }: { seed: number; mark: string; answers: boolean },
): string {
  return `import contextlib, io, json, random, sys, traceback
def _run(code, names):
    try:
        exec(compile(code, "<python>", "exec"), names)
    except SystemExit:
        return None
    except BaseException as error:
        own = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == "<python>"]
        lines = traceback.format_list(own) + traceback.format_exception_only(error)
        return [type(error).__name__, "".join(lines).strip()]
def _main(names):
    *earlier, last = ${JSON.stringify(programs)}
    given = []
    def final_answer(value):
        given.append(str(value))
        raise SystemExit
    if ${answers ? "True" : "False"}:
        names["final_answer"] = final_answer
    random.seed(${seed})
    for code in earlier:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            _run(code, names)
    given.clear()
    out = sys.stdout
    with contextlib.redirect_stderr(out):
        error = _run(last, names)
    out.write("${mark}" + json.dumps([error, *given[:1]]))
_main({"__name__": "__main__"})
`;
}

/** @throws {RolloutError} TOOL_FAILED when the server could not run the program. */
function outcomeOf(
  { status, message, run_result: result }: Reply,
  { url, mark, outputCharacters }: { url: string; mark: string; outputCharacters: number },
): PythonOutcome {
  if (result?.status === "TimeLimitExceeded") return "time-limit";
  if (status === "SandboxError" || result == null || result.status === "Error") {
    const found = `tool python: the sandbox at ${url} failed: ${message.slice(0, 200) || "no message"}`;
    throw new RolloutError("TOOL_FAILED", `${found}. Check the server's log.`);
  }
  const [printed = "", ending] = (result.stdout ?? "").split(mark);
  // It ended itself, or was killed for its memory.
  if (ending === undefined) return "crash";
  const [error, answer] = endingSchema.parse(JSON.parse(ending));
  const text = printed.slice(0, outputCharacters);
  const own = answer === undefined ? {} : { answer };
  return { text, cut: text.length < printed.length, error, tainted: false, ...own };
}
