import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ChatTemplate, compileChatTemplate } from "../../src/chat/chat-template.ts";
import {
  checkPrefixes,
  prefixFindingText,
  requireStablePrefixes,
} from "../../src/chat/prefix-stability.ts";
import { makeTokenizer } from "../../src/text/tokenizer.ts";
import { errorWith } from "../helpers/error-with.ts";

import kinds from "../golden/tokenizer-kinds.json" with { type: "json" };

const specialTokens = { bos_token: "<s>", eos_token: "</s>" };
const compile = (source: string): ChatTemplate =>
  compileChatTemplate(source, { specialTokens, where: "a.jinja" });
const golden = (name: string): ChatTemplate =>
  compile(readFileSync(new URL(`../golden/chat-templates/${name}.jinja`, import.meta.url), "utf8"));

/** A template of one line for each message. */
const plain = (assistant: string, prompt = "assistant: "): ChatTemplate =>
  compile(
    `{%- for m in messages -%}{%- if m.role == 'assistant' -%}${assistant}{%- else -%}{{ m.role ~ ': ' ~ m.content ~ '\\n' }}{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}{{ '${prompt}' }}{%- endif -%}`,
  );
const faithful = "{{ 'assistant: ' ~ m.content ~ '\\n' }}";

describe("checkPrefixes", () => {
  it("finds nothing where every message is written as it is", () => {
    const report = checkPrefixes(plain(faithful));
    expect(report.findings).toEqual([]);
    expect(report.unchecked).toEqual([]);
    // 9 probes of 36 messages in all, less their first ones, less three first questions after a system turn.
    expect(report.compared).toBeGreaterThan(20);
  });

  it("finds thinking that is dropped once a question follows", () => {
    const { findings } = checkPrefixes(golden("tools-and-thinking"));
    expect(findings.map(({ probe, severity }) => [probe, severity])).toEqual([
      ["thinking in an earlier turn", "error"],
      ["thinking as a field of a message", "error"],
    ]);
    expect(findings[0]).toMatchObject({ level: "text", messages: 2, role: "user", at: 105 });
    expect(prefixFindingText(findings[0]!)).toMatchInlineSnapshot(
      `"when the next message (user) is added, the first 2 messages of "thinking in an earlier turn" change at character 105: "er\\nWho?<|im_end|>\\n<|im_start|>assistant\\n<think>\\nWhat is known?\\n</think>\\n\\nMara Vo" becomes "er\\nWho?<|im_end|>\\n<|im_start|>assistant\\nMara Voss.<|im_end|>\\n<|im_start|>user\\nWh"."`,
    );
  });

  it("finds a generation prompt that the message does not begin with", () => {
    const [finding] = checkPrefixes(plain(faithful, "assistant:\\n")).findings;
    expect(finding).toMatchObject({ severity: "error", messages: 2, role: "assistant" });
    expect(finding?.before).toMatch(/assistant:\nMara Voss\.$/);
    expect(finding?.after).toMatch(/assistant: Mara Voss\.\n$/);
  });

  it("only notes white space that is trimmed or added around what a policy wrote", () => {
    const trimmed = checkPrefixes(golden("headers")).findings;
    expect(trimmed.map(({ probe, severity }) => [probe, severity])).toEqual([
      ["blanks around what is written", "notice"],
    ]);
    // Mistral's way: a space before each answer, which the model itself writes.
    const spaced = checkPrefixes(golden("brackets")).findings;
    expect(new Set(spaced.map(({ severity }) => severity))).toEqual(new Set(["notice"]));
  });

  it("finds tools that move to the newest question", () => {
    const question = "{%- for m in messages -%}{%- if tools and loop.last -%}[TOOLS]{%- endif -%}";
    const moving = compile(
      `${question}{{ m.role ~ ': ' ~ (m.content or '') ~ '\\n' }}{%- endfor -%}`,
    );
    const report = checkPrefixes(moving);
    expect(report.findings.map(({ probe }) => probe)).toContain("calls of a tool");
  });

  it("takes several results of tools as one step", () => {
    const messages = [
      { role: "user", content: "When?" },
      { role: "assistant", content: "", tool_calls: [{}] },
      { role: "tool", content: "1" },
      { role: "tool", content: "2" },
    ];
    const probes = [{ name: "two results", messages, tools: true }];
    const { findings, compared } = checkPrefixes(
      compile(
        "{%- for m in messages -%}{%- if m.role == 'tool' -%}{%- if loop.previtem.role != 'tool' -%}<results>{%- endif -%}{{ m.content }}{%- if loop.last -%}</results>{%- endif -%}{%- else -%}{{ m.role ~ m.content }}{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}assistant{%- endif -%}",
      ),
      { probes },
    );
    expect({ findings, compared }).toEqual({ findings: [], compared: 2 });
  });

  it("compares token ids where a tokenizer is given", () => {
    const kind = kinds.kinds["llama-2"];
    const tokenizer = makeTokenizer(kind.tokenizer, kind.config, "llama-2");
    // Two line feeds are one token of this vocabulary: one that the policy wrote and the template's own.
    const messages = [
      { role: "user", content: "When?" },
      { role: "assistant", content: "The mill\n" },
    ];
    const probes = [{ name: "line feeds", messages, tools: false }];
    expect(checkPrefixes(plain(faithful), { probes }).findings).toEqual([]);
    const { findings } = checkPrefixes(plain(faithful), { tokenizer, probes });
    expect(findings).toMatchObject([
      { level: "tokens", severity: "notice", messages: 1, role: "assistant" },
    ]);
    expect([findings[0]!.before, findings[0]!.after]).toEqual([
      expect.stringMatching(/mill\n$/),
      expect.stringMatching(/mill\n\n$/),
    ]);
    expect(prefixFindingText(findings[0]!)).toContain("change at token ");
  });

  it("says which probes a template does not take", () => {
    const refusing = compile(
      "{%- for m in messages -%}{%- if m.role == 'tool' -%}{{ raise_exception('No tools.') }}{%- endif -%}{{ m.role ~ ': ' ~ m.content ~ '\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ 'assistant: ' }}{%- endif -%}",
    );
    const { unchecked, findings } = checkPrefixes(refusing);
    expect(findings).toEqual([]);
    expect(unchecked.map(({ probe }) => probe)).toEqual([
      "calls of a tool",
      "a question after calls of a tool",
      "thinking before a call of a tool",
    ]);
    expect(unchecked[0]!.error.code).toBe("CHAT_TEMPLATE_REFUSED");
  });
});

describe("requireStablePrefixes", () => {
  it("lets a stable template pass, with its notices", () => {
    expect(requireStablePrefixes(golden("chatml")).findings).toEqual([]);
    expect(requireStablePrefixes(golden("headers")).findings).toHaveLength(1);
  });

  it("refuses a template that rewrites earlier turns, with the place", () => {
    expect(() => requireStablePrefixes(golden("tools-and-thinking"))).toThrow(
      errorWith(
        "CHAT_TEMPLATE_REWRITES",
        /^a\.jinja: when the next message \(user\) is added, the first 2 messages of "thinking in an earlier turn" change at character 105: .*Mara Voss/,
      ),
    );
  });

  it("fails as the template does when it takes nothing at all", () => {
    const none = compile("{{ raise_exception('Not today.') }}");
    expect(() => requireStablePrefixes(none)).toThrow(
      errorWith("CHAT_TEMPLATE_REFUSED", '"Not today."'),
    );
  });
});
