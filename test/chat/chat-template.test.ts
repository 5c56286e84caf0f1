import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileChatTemplate } from "../../src/chat/chat-template.ts";
import { strftime } from "../../src/chat/jinja/globals.ts";
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
    expect(template.render(question, { variables: { style: "!" } })).toBe("<s>Why?!True");
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

  it("names a construct that it does not have, and its line", () => {
    expect(() => compile("\n{% include 'b' %}")).toThrow(
      errorWith("CHAT_TEMPLATE_UNSUPPORTED", "a.jinja: line 2: the template uses {% include %}"),
    );
    const later = compile("a\n{{ 'b'|urlencode }}");
    expect(() => later.render(question)).toThrow(
      errorWith("CHAT_TEMPLATE_UNSUPPORTED", "a.jinja: line 2: the template uses the filter urlencode"), // prettier-ignore
    );
  });

  it.each([
    ["loops", "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"],
    ["doubled texts", "{% set n = namespace(s='ab') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}"], // prettier-ignore
    ["repeated texts", "{{ ('x' * 99999999)|length }}"],
    ["repeated lists", "{{ ([0] * 99999999)|length }}"],
    ["wide columns", "{{ 'a'.ljust(999999999) }}{{ 'a'.center(999999999) }}"],
    ["wide numbers", "{{ '%999999999d' % 1 }}"],
    ["deep indents", "{{ {'a': 1}|tojson(indent=999999999) }}"],
    ["nested lists", "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}"], // prettier-ignore
    ["compared lists", "{% set n = namespace(l=[1], m=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% set n.m = [n.m, n.m] %}{% endfor %}{{ n.l == n.m }}"], // prettier-ignore
    ["long replacements", "{{ ('a' * 9999999).replace('a', 'b' * 9999) }}"],
    ["macros that call themselves twice", "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"], // prettier-ignore
  ])("ends %s that go on and on", (_, source) => {
    const before = process.memoryUsage().rss;
    expect(() => compile(source).render(question)).toThrow(errorWith("CHAT_TEMPLATE_ENDLESS", "line 1"));
    expect(process.memoryUsage().rss - before).toBeLessThan(1e9);
  }); // prettier-ignore

  it("ends a macro that calls itself for ever", () => {
    const endless = compile("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
    expect(() => endless.render(question)).toThrow(errorWith("CHAT_TEMPLATE_UNSUPPORTED", "deep nesting")); // prettier-ignore
  });

  it("renders a conversation of a million characters within its limits", () => {
    const source =
      "{% set n = namespace(all='') %}{% for m in messages[::-1] %}{% set n.all = m.content.strip() ~ n.all %}{% endfor %}{{ n.all }}";
    const long = Array.from({ length: 2000 }, () => ({ role: "user", content: "word ".repeat(100) })); // prettier-ignore
    expect(compile(source).render(long)).toHaveLength(2000 * 499);
  });

  it("says when a template does not parse, or fails", () => {
    expect(() => compile("{% for m in messages %}")).toThrow(
      errorWith(
        "CHAT_TEMPLATE_BAD",
        "a.jinja: line 1: the template ends where {% endfor or else %}",
      ),
    );
    expect(() => compile("{{ messages[0].content.nothing() }}").render(question)).toThrow(
      errorWith("CHAT_TEMPLATE_BAD", "a.jinja: line 1: 'str' has no attribute 'nothing'"),
    );
  });
});

describe("strftime", () => {
  it("writes dates as C does", () => {
    const date = new Date("2026-02-03T14:05:06Z");
    const all = "%a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y %% %-d %-I";
    // date -u -d 2026-02-03T14:05:06 +"…" of GNU coreutils.
    expect(strftime(date, all)).toBe(
      "Tue Tuesday Feb February 03  3 14 02 034 02 05 PM 06 26 2026 % 3 2",
    );
    expect(strftime(new Date("2024-12-31T00:00:00Z"), "%I %p %j")).toBe("12 AM 366");
    expect(() => strftime(date, "%Z")).toThrow("%Z in a date");
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
