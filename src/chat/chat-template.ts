import { DataError } from "../base/errors.ts";
import { globalNames } from "./jinja/globals.ts";
import { render } from "./jinja/render.ts";
import { Scope } from "./jinja/scope.ts";
import { parseTemplate } from "./jinja/statements.ts";
import { TemplateFault, unsupported, valueOf, withSteps } from "./jinja/values.ts";

/** A message for a template, with any further keys (`tool_calls`, `tool_call_id`, `reasoning_content`, …). */
export type TemplateMessage = { role: string; content: unknown; readonly [key: string]: unknown };

export interface RenderOptions {
  tools?: readonly unknown[];
  addGenerationPrompt?: boolean;
  variables?: Readonly<Record<string, unknown>>;
  /** The time for `strftime_now`, in UTC; absent: no such function, so that templates write a fixed date and prompts stay equal. */
  now?: Date;
}

/** A model's chat template. */
export interface ChatTemplate {
  readonly source: string;
  /** The source file, for messages. */
  readonly where: string;
  /** @throws {DataError} CHAT_TEMPLATE_REFUSED by the template itself; CHAT_TEMPLATE_BAD as in jinja2; _UNSUPPORTED; _ENDLESS past a limit. */
  render(messages: readonly TemplateMessage[], options?: RenderOptions): string;
}

/**
 * Compiles a template as transformers does with jinja2 (trim_blocks, lstrip_blocks, loop controls, `raise_exception`, `strftime_now`,
 * `generation` blocks). It gives jinja2's text or an error. JSON's 1.0 is 1, because JavaScript has one number type.
 * @param specialTokens texts by name: `bos_token`, `eos_token`, … @throws {DataError} CHAT_TEMPLATE_BAD, CHAT_TEMPLATE_UNSUPPORTED
 */
export function compileChatTemplate(
  source: string,
  { specialTokens, where }: { specialTokens: Readonly<Record<string, string>>; where: string },
): ChatTemplate {
  const program = attempt(where, () => parseTemplate(source));
  return {
    source,
    where,
    render(messages, { now, variables, tools, addGenerationPrompt } = {}) {
      return attempt(where, () => {
        const names = new Scope();
        for (const [name, value] of globalNames(now)) names.set(name, value);
        const given = {
          ...specialTokens,
          ...variables,
          messages,
          tools,
          documents: null,
          add_generation_prompt: addGenerationPrompt ?? false,
        };
        for (const [name, value] of Object.entries(given)) names.set(name, valueOf(value));
        return render(program, new Scope(names));
      });
    },
  };
}

function attempt<T>(where: string, work: () => T): T {
  try {
    return withSteps(work);
  } catch (error) {
    // JavaScript's own: a template calls itself without end, or nests deeper than the stack.
    const fault = error instanceof RangeError ? unsupported("such deep nesting") : error;
    throw fault instanceof TemplateFault ? errorOf(where, fault, error) : error;
  }
}

function errorOf(where: string, { kind, message, line }: TemplateFault, cause: unknown): DataError {
  const place = line === undefined ? where : `${where}: line ${line}`;
  switch (kind) {
    case "refused":
      return new DataError(
        "CHAT_TEMPLATE_REFUSED",
        `${where}: rejects these messages: ${JSON.stringify(message)}. Change the messages, or use a template that accepts them.`,
      );
    case "endless":
      return new DataError(
        "CHAT_TEMPLATE_ENDLESS",
        `${place}: the template makes ${message}. Shorten the conversation, or use another template.`,
      );
    case "unsupported": {
      const problem = `${place}: the template uses ${message}, which is not supported. Rewrite that place, or use another template.`;
      return new DataError("CHAT_TEMPLATE_UNSUPPORTED", problem, { cause });
    }
    case "wrong": {
      const problem = `${place}: ${message}. Correct the template, or use another one.`;
      return new DataError("CHAT_TEMPLATE_BAD", problem, { cause });
    }
  }
}
