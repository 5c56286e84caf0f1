import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ChatTemplate, type RenderOptions, type TemplateMessage, compileChatTemplate } from "../../src/chat/chat-template.ts"; // prettier-ignore

import golden from "./chat-templates.json" with { type: "json" };
import snippets from "./jinja-snippets.json" with { type: "json" };
import families from "./template-families.json" with { type: "json" };

// The JSON files name the program, its versions and the script that made them; the templates were written for these tests.
const specialTokens = { bos_token: "<s>", eos_token: "</s>" };
const now = new Date(`${golden.date}Z`);
type Result = { text: string } | { refused: string } | { error: string };
interface Case {
  tools: boolean;
  generation: boolean;
  variables: object;
}

function expectResult(render: () => string, expected: Result): void {
  if ("text" in expected) expect(render()).toBe(expected.text);
  else if ("refused" in expected) {
    const said = expect.stringContaining(JSON.stringify(expected.refused)) as string;
    expect(render).toThrow(expect.objectContaining({ code: "CHAT_TEMPLATE_REFUSED", message: said }));
  } else expect(render).toThrow(expect.objectContaining({ code: "CHAT_TEMPLATE_BAD" }));
}

function expectRenders(template: ChatTemplate, title: string, results: Result[], cases: Case[]): void { // prettier-ignore
  const messages = golden.conversations[title as keyof typeof golden.conversations] as TemplateMessage[]; // prettier-ignore
  for (const [i, expected] of results.entries()) {
    const { tools, generation, variables } = cases[i]!;
    const options: RenderOptions = { addGenerationPrompt: generation, variables: { ...variables }, now }; // prettier-ignore
    if (tools) options.tools = golden.tools;
    expectResult(() => template.render(messages, options), expected);
  }
}

describe.each(Object.entries(golden.renders))("the template %s", (name, conversations) => {
  const source = readFileSync(new URL(`./chat-templates/${name}.jinja`, import.meta.url), "utf8");
  const template = compileChatTemplate(source, { specialTokens, where: name });
  it.each(Object.entries(conversations))("renders %s as transformers does", (title, results) => {
    expectRenders(template, title, results, golden.cases);
  });
});

describe.each(Object.entries(families.families))("a template in the manner of %s", (name, family) => {
  it("renders every conversation as transformers does", () => {
    const template = compileChatTemplate(family.template, { specialTokens, where: name });
    for (const [title, results] of Object.entries(family.renders)) {
      expectRenders(template, title, results as Result[], families.cases);
    }
  });
});

describe("a construct of the language", () => {
  it.each(snippets.snippets as ({ template: string } & Result)[])(
    "gives jinja2's text or an error: $template",
    ({ template, ...expected }) => {
      let text: string | undefined;
      try {
        const compiled = compileChatTemplate(template, { specialTokens: {}, where: "snippet" });
        text = compiled.render([], { variables: snippets.variables, now });
      } catch (error) {
        const fine = "text" in expected ? /UNSUPPORTED/ : /BAD|UNSUPPORTED|REFUSED/;
        expect((error as { code: string }).code).toMatch(fine);
      }
      if (text !== undefined) expect({ text }).toEqual(expected);
    },
  );

  it("is unsupported in few of the snippets", () => {
    const texts = snippets.snippets.filter((each) => "text" in each);
    const refused = texts.filter(({ template }) => {
      try {
        const compiled = compileChatTemplate(template, { specialTokens: {}, where: "snippet" });
        compiled.render([], { variables: snippets.variables, now });
        return false;
      } catch {
        return true;
      }
    });
    expect(refused.length).toBeLessThan(texts.length / 8);
  });
});
