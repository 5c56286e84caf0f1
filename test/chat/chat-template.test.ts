import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileChatTemplate, strftime } from "../../src/chat/chat-template.ts";
import { loadChatTemplate } from "../../src/chat/load-chat-template.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const compile = (source: string) =>
  compileChatTemplate(source, { specialTokens: { bos_token: "<s>" }, where: "a.jinja" });
const question = [{ role: "user", content: "Why?" }];

describe("compileChatTemplate", () => {
  it("gives a template messages, special tokens and its own variables", () => {
    const template = compile(
      "{{ bos_token }}{{ messages[0].content }}{{ style }}{{ tools is none }}",
    );
    expect(template.render(question, { variables: { style: "!" } })).toBe("<s>Why?!true");
  });

  it("renders twice the same, whatever a template sets", () => {
    const template = compile("{% set ns = namespace(n=0) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}");
    expect([template.render(question), template.render(question)]).toEqual(["1", "1"]);
  });

  it("has a date only when it is given one", () => {
    const template = compile(
      "{{ strftime_now('%d %b %Y') if strftime_now is defined else 'once' }}",
    );
    expect(template.render(question)).toBe("once");
    expect(template.render(question, { now: new Date("2026-02-03T23:59:00Z") })).toBe(
      "03 Feb 2026",
    );
  });

  it("takes blocks that mark what an assistant wrote", () => {
    const template = compile("a {%- generation -%} b {%- endgeneration %} c");
    expect(template.render(question)).toBe("ab c");
  });

  it("says what a template refuses, in its words", () => {
    expect(() => compile("{{ raise_exception('Only questions!') }}").render(question)).toThrow(
      errorWith("CHAT_TEMPLATE_REFUSED", '"Only questions!"'),
    );
  });

  it("says when a template does not parse, or fails", () => {
    expect(() => compile("{% for m in messages %}")).toThrow(
      errorWith("CHAT_TEMPLATE_BAD", "a.jinja: does not parse ("),
    );
    expect(() => compile("{{ messages[0].content.nothing() }}").render(question)).toThrow(
      errorWith("CHAT_TEMPLATE_BAD", "a.jinja: cannot be rendered ("),
    );
  });
});

describe("strftime", () => {
  it("writes dates as C does", () => {
    const date = new Date("2026-02-03T14:05:06Z");
    const all = "%a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y %% %-d %-I %Q";
    // date -u -d 2026-02-03T14:05:06 +"…" of GNU coreutils, but for %Q, which it does not have either.
    expect(strftime(date, all)).toBe(
      "Tue Tuesday Feb February 03  3 14 02 034 02 05 PM 06 26 2026 % 3 2 %Q",
    );
    expect(strftime(new Date("2024-12-31T00:00:00Z"), "%I %p %j")).toBe("12 AM 366");
  });
});

describe("loadChatTemplate", () => {
  const root = temporaryFolder();
  const files = wordTokenizer({ words: [], specials: ["<|end|>", "<|pad|>"] });
  async function model(name: string, config: object, further: Record<string, string> = {}) {
    const folder = join(root, name);
    await mkdir(join(folder, "additional_chat_templates"), { recursive: true });
    await writeFile(join(folder, "tokenizer.json"), JSON.stringify(files.tokenizer));
    const text = JSON.stringify({ ...(files.config as object), ...config });
    await writeFile(join(folder, "tokenizer_config.json"), text);
    for (const [file, content] of Object.entries(further)) {
      await writeFile(join(folder, file), content);
    }
    return folder;
  }

  it("takes the template of tokenizer_config.json, with the special tokens of the model", async () => {
    const folder = await model("one", { chat_template: "{{ messages[0].content + eos_token }}" });
    const template = await loadChatTemplate(folder);
    expect(template.render(question)).toBe("Why?<|end|>");
    expect(template.where).toBe(`${join(folder, "tokenizer_config.json")}: chat_template`);
  });

  it("prefers chat_template.jinja", async () => {
    const folder = await model("file", { chat_template: "old" }, { "chat_template.jinja": "new" });
    const template = await loadChatTemplate(folder);
    expect(template.render(question)).toBe("new");
    expect(template.where).toBe(join(folder, "chat_template.jinja"));
  });

  it("chooses among named ones: the default, that for tools, or by name", async () => {
    const chat_template = [
      { name: "default", template: "plain" },
      { name: "tool_use", template: "tools" },
    ];
    const further = { "additional_chat_templates/rag.jinja": "passages" };
    const folder = await model("named", { chat_template }, further);
    const rendered = async (options: object) =>
      (await loadChatTemplate(folder, options)).render(question);
    expect(await rendered({})).toBe("plain");
    expect(await rendered({ tools: true })).toBe("tools");
    expect(await rendered({ name: "rag" })).toBe("passages");
    await expect(rendered({ name: "tool-use" })).rejects.toThrow(
      errorWith("CHAT_TEMPLATE_MISSING", 'Did you mean "tool_use"?'),
    );
  });

  it("says when a model has none, or something else in its place", async () => {
    await expect(loadChatTemplate(await model("none", {}))).rejects.toThrow(
      errorWith("CHAT_TEMPLATE_MISSING", "has neither chat_template.jinja nor a chat_template"),
    );
    await expect(loadChatTemplate(await model("odd", { chat_template: 3 }))).rejects.toThrow(
      errorWith("CHAT_TEMPLATE_BAD", "tokenizer_config.json: chat_template"),
    );
  });
});
