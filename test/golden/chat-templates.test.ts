import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileChatTemplate } from "../../src/chat/chat-template.ts";

import golden from "./chat-templates.json" with { type: "json" };

// chat-templates.json names the program, its versions and the script; the templates were written for this test.
const specialTokens = { bos_token: "<s>", eos_token: "</s>" };
/**
 * Where @huggingface/jinja 0.5.11 differs from Python, by template and conversation: None, True and lists are not written as
 * Python writes them (filters refuse null), an item that a list lacks is undefined, and text can be joined to a list.
 */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  brackets: ["null content", "none"],
  chatml: ["parts"],
  headers: ["null content", "parts", "none"],
  "tools-and-thinking": ["parts"],
};
type Result = { text: string } | { refused: string } | { error: string };

describe.each(Object.entries(golden.renders))("the template %s", (name, conversations) => {
  const source = readFileSync(new URL(`./chat-templates/${name}.jinja`, import.meta.url), "utf8");
  const template = compileChatTemplate(source, { specialTokens, where: name });
  const now = new Date(`${golden.date}Z`);

  const alike = Object.entries(conversations).filter(([title]) => !DIFFERENT[name]?.includes(title));
  it.each(alike)("renders %s as transformers does", (title, results) => {
    const messages = golden.conversations[title as keyof typeof golden.conversations];
    for (const [i, expected] of (results as Result[]).entries()) {
      const { tools, generation, variables } = golden.cases[i]!;
      const render = (): string =>
        template.render(messages, {
          ...(tools ? { tools: golden.tools } : {}),
          ...{ addGenerationPrompt: generation, variables, now },
        });
      if ("text" in expected) expect(render()).toBe(expected.text);
      else if ("refused" in expected) {
        const said = expect.stringContaining(JSON.stringify(expected.refused)) as string;
        expect(render).toThrow(expect.objectContaining({ code: "CHAT_TEMPLATE_REFUSED", message: said }));
      } else expect(render).toThrow(expect.objectContaining({ code: "CHAT_TEMPLATE_BAD" }));
    }
  });
});
