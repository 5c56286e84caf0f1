import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import { type ChatTemplate, compileChatTemplate } from "../../src/chat/chat-template.ts";
import { chatRendering } from "../../src/rollout/chat-rendering.ts";
import { chatSchema } from "../../src/rollout/model-settings.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { errorWith } from "../helpers/error-with.ts";
import {
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  tagTokenizer,
} from "../helpers/search-world.ts";

const tokenizer = tagTokenizer("<|im_start|>", "<|im_end|>");
const golden = (name: string): ChatTemplate =>
  compileChatTemplate(
    readFileSync(new URL(`../golden/chat-templates/${name}.jinja`, import.meta.url), "utf8"),
    { specialTokens: { bos_token: "<s>", eos_token: "</s>" }, where: `${name}.jinja` },
  );
/** A template that ends messages with the tokenizer's own end token. */
const chatml = compileChatTemplate(
  "{%- for m in messages -%}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|end|>\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}",
  { specialTokens: {}, where: "chatml.jinja" },
);

const play = (
  template: ChatTemplate,
  options: object,
  messages: string[],
  environment?: object,
) => {
  const rendering = chatRendering(template, tokenizer, chatSchema.parse(options));
  const policy = { ...replay(messages, tokenizer), rendering };
  return rollOut(rolloutOptions({ policy, environment: searchEnvironment({ ...environment }) }));
};
const MESSAGES = ["<search> capital Norway</search>", "<answer> Oslo</answer>"];

describe("a policy that is asked through a chat template", () => {
  it("reads the prompt and each reply as messages, whose marks are the template's tokens", async () => {
    const trajectory = await play(chatml, { system: "Be brief." }, MESSAGES);
    expect(readable(trajectory, tokenizer)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "<|im_start|>system\\nBe brief.<|end|>\\n<|im_start|>user\\nQuestion: What is the capital of Norway?\\n<|end|>\\n<|im_start|>assistant\\n"
        policy: "<search> capital Norway</search>"
      call 1 after 0, eos
        template: "<|end|>\\n<|im_start|>user\\n"
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        template: "<|end|>\\n<|im_start|>assistant\\n"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
  });

  it("is not given the end of its own message twice", async () => {
    const trajectory = await play(chatml, {}, ["hm", ...MESSAGES]);
    const all = trajectory.calls.flatMap(({ prompt, completion }) =>
      [...prompt, ...completion].flatMap(({ ids }) => ids),
    );
    const text = tokenizer.decode(all);
    expect(text).toContain("hm<|end|>\n<|im_start|>user\n");
    expect(text).not.toContain("<|end|><|end|>");
  });

  it("is shown what a conversation of the same messages would be, had it been rendered whole", async () => {
    const trajectory = await play(chatml, {}, ["hm", "<answer> Oslo</answer>"]);
    const text = tokenizer.decode(
      trajectory.calls.flatMap(({ prompt, completion }) =>
        [...prompt, ...completion].flatMap(({ ids }) => ids),
      ),
    );
    const environment = searchEnvironment();
    const whole = chatml.render([
      {
        role: "user",
        content: environment.start(rolloutOptions({ policy: replay([]) }).task, {
          trajectoryId: "one",
          seed: 1,
        }).prompt,
      },
      { role: "assistant", content: "hm" },
      { role: "user", content: environment.protocol.renderProblems([]) },
      { role: "assistant", content: "<answer> Oslo</answer>" },
    ]);
    expect(`${text}\n`).toBe(whole);
  });

  it("is trained on its own tokens alone", async () => {
    const [row] = policyRows(await play(chatml, {}, MESSAGES));
    expect(tokenizer.decode(row!.targets.filter((_, i) => row!.lossMask[i] === 1))).toBe(
      `${MESSAGES.join("")}<|end|>`,
    );
  });

  it("goes on in its own message where replies are inline, as in Search-R1", async () => {
    const trajectory = await play(chatml, { replies: "inline" }, MESSAGES);
    expect(trajectory.calls[1]!.prompt.map(({ owner }) => owner)).toEqual(["environment"]);
  });

  it("gets results of tools without the protocol's marks where the template has its own", async () => {
    const call =
      '<tool_call>{"name": "search", "arguments": {"query": "capital Norway"}}</tool_call>';
    const environment = { protocol: "hermes" };
    const template = golden("tools-and-thinking");
    const played = await play(template, { replies: "tool" }, [call, MESSAGES[1]!], environment);
    const [before, reply] = played.calls[1]!.prompt.map(({ ids }) => tokenizer.decode(ids));
    expect(before).toContain("<tool_response>");
    expect(reply).toBe("Doc 1(Title: Oslo) Oslo is the capital of Norway.\n");
  });

  it("is refused where the template rewrites earlier turns in such conversations", () => {
    const template = golden("tools-and-thinking");
    expect(() => chatRendering(template, tokenizer, chatSchema.parse({}))).toThrow(
      errorWith("CHAT_TEMPLATE_REWRITES", "thinking in an earlier turn"),
    );
    // With results of tools instead of the user's messages it keeps what was written.
    expect(() =>
      chatRendering(template, tokenizer, chatSchema.parse({ replies: "tool" })),
    ).not.toThrow();
  });

  it("is refused where the template does not show a reply as it is", () => {
    const shouting = compileChatTemplate(
      "{%- for m in messages -%}{{ m.role ~ ': ' ~ (m.content if m.role == 'assistant' else m.content | replace('\u2063', '')) ~ '\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ 'assistant: ' }}{%- endif -%}",
      { specialTokens: {}, where: "shouting.jinja" },
    );
    expect(() => chatRendering(shouting, tokenizer, chatSchema.parse({}))).toThrow(
      errorWith("CHAT_TEMPLATE_REWRITES", /shouting\.jinja: changes a message/),
    );
  });
});
