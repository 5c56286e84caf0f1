import * as jinja from "@huggingface/jinja";
import { AgentrlError, DataError, errorMessage } from "../base/errors.ts";

/** The used part of the library; its own type declarations do not resolve under Node's module rules. */
interface Library {
  tokenize: (source: string, options: Record<"lstrip_blocks" | "trim_blocks", boolean>) => unknown;
  parse: (tokens: unknown) => unknown;
  Environment: new () => { set(name: string, value: unknown): unknown };
  Interpreter: new (scope: unknown) => { run(program: unknown): { value: unknown } };
}
const { tokenize, parse, Environment, Interpreter } = jinja as unknown as Library;

/** A message for a template, with any further keys (`tool_calls`, `tool_call_id`, `reasoning_content`, …). */
export interface TemplateMessage {
  role: string;
  content: unknown;
  readonly [key: string]: unknown;
}

export interface RenderOptions {
  /** JSON schemas of functions, as OpenAI's `tools`. */
  tools?: readonly unknown[];
  /** End with the generation prompt. */
  addGenerationPrompt?: boolean;
  /** Further variables of the template, such as `enable_thinking`. */
  variables?: Readonly<Record<string, unknown>>;
  /**
   * The time for `strftime_now`, in UTC. When absent, the template has no such function: templates that check for it then write a
   * fixed date, so that a prompt does not change from day to day.
   */
  now?: Date;
}

/** A model's chat template. */
export interface ChatTemplate {
  /** Jinja source, for hashes and manifests. */
  readonly source: string;
  /** The source file, for messages. */
  readonly where: string;
  /**
   * Renders a conversation.
   * @throws {DataError} CHAT_TEMPLATE_REFUSED when the template itself raises an exception; CHAT_TEMPLATE_BAD when it fails.
   */
  render(messages: readonly TemplateMessage[], options?: RenderOptions): string;
}

/**
 * Compiles a template as transformers does: trims the first newline after a block and blanks before it; supports loop controls,
 * `raise_exception` and `strftime_now`; treats `generation` blocks, which only mark text, as plain text.
 *
 * @param specialTokens texts by name: `bos_token`, `eos_token`, …
 * @param where the file, for messages.
 * @throws {DataError} CHAT_TEMPLATE_BAD when the source does not parse.
 *
 * Different here, because of @huggingface/jinja 0.5.11: without `tojson`, values print as in JSON
 * (`true`, nothing for none, `["a"]`), not as in Python (`True`, `None`, `['a']`); 1.0 prints as 1, because JSON has one number type.
 */
export function compileChatTemplate(
  source: string,
  { specialTokens, where }: { specialTokens: Readonly<Record<string, string>>; where: string },
): ChatTemplate {
  const program = attempt(where, "does not parse", () =>
    parse(tokenize(withoutGenerationBlocks(source), { lstrip_blocks: true, trim_blocks: true })),
  );
  return {
    source,
    where,
    render(messages, options = {}) {
      return attempt(where, "cannot be rendered", () => {
        const scope = new Environment();
        const names = { ...globals(where, options.now), ...specialTokens, ...options.variables };
        for (const [name, value] of Object.entries(names)) scope.set(name, value);
        scope.set("messages", messages);
        scope.set("tools", options.tools ?? null);
        scope.set("documents", null);
        scope.set("add_generation_prompt", options.addGenerationPrompt ?? false);
        return String(new Interpreter(scope).run(program).value);
      });
    },
  };
}

/** The globals of every template. The library's defaults include a clock, and its exceptions cannot be told from other failures. */
function globals(where: string, now: Date | undefined): Record<string, unknown> {
  return {
    ...{ true: true, false: false, none: null, True: true, False: false, None: null },
    range: (first: number, end?: number, step = 1): number[] => {
      const [from, to] = end === undefined ? [0, first] : [first, end];
      const length = Math.max(0, Math.ceil((to - from) / step));
      return Array.from({ length }, (_, i) => from + i * step);
    },
    raise_exception: (said: unknown): never => {
      throw new DataError(
        "CHAT_TEMPLATE_REFUSED",
        `${where}: rejects these messages: ${JSON.stringify(said)}. Change the messages, or use a template that accepts them.`,
      );
    },
    ...(now === undefined ? {} : { strftime_now: (format: string) => strftime(now, format) }),
  };
}

function attempt<T>(where: string, what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof AgentrlError) throw error;
    throw new DataError(
      "CHAT_TEMPLATE_BAD",
      `${where}: ${what} (${errorMessage(error)}). Use another template, or correct this one.`,
      { cause: error },
    );
  }
}

/** The library does not know `{% generation %}`, which marks assistant text. White space control stays the same. */
function withoutGenerationBlocks(source: string): string {
  return source
    .replace(/\{%([-+]?)\s*generation\s*([-+]?)%\}/g, "{%$1 if true $2%}")
    .replace(/\{%([-+]?)\s*endgeneration\s*([-+]?)%\}/g, "{%$1 endif $2%}");
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];

/**
 * A date by C's format letters, in UTC and English: a, A, b, B, d, e, H, I, j, m, M, p, S, y, Y, %, and `-` before a letter to
 * remove leading zeros. Other letters stay unchanged.
 * @example strftime(new Date("2026-02-03T04:05:06Z"), "%d %b %Y, %-H:%M") // "03 Feb 2026, 4:05"
 */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (whole, bare: string, letter: string) => {
    const text = parts(date)[letter];
    if (text === undefined) return whole;
    return bare === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

function parts(date: Date): Partial<Record<string, string>> {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = DAYS[date.getUTCDay()] ?? "";
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const hours = date.getUTCHours();
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  return {
    ...{ a: day.slice(0, 3), A: day, b: month.slice(0, 3), B: month, "%": "%" },
    ...{ d: two(date.getUTCDate()), e: String(date.getUTCDate()).padStart(2, " ") },
    ...{ m: two(date.getUTCMonth() + 1), y: two(date.getUTCFullYear() % 100) },
    ...{
      Y: String(date.getUTCFullYear()),
      H: two(hours),
      I: two(hours % 12 === 0 ? 12 : hours % 12),
    },
    ...{ M: two(date.getUTCMinutes()), S: two(date.getUTCSeconds()), p: hours < 12 ? "AM" : "PM" },
    j: String(Math.floor((date.getTime() - newYear) / 86_400_000) + 1).padStart(3, "0"),
  };
}
