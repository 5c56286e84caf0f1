import { ANSWERS } from "./published-files.ts";
import { ANY, END } from "./scripted-model.ts";

/** A call or an answer: its first text, what it holds, its last text. */
type Action = readonly [opening: string, contents: readonly string[], closing: string];

const QUERY = [" river"];
const searchTag: Action = ["<search>", QUERY, "</search>"];
const answerTag: Action = ["<answer>", [...ANSWERS], "</answer>"];
const boxed: Action = ["<answer>\\boxed{", [...ANSWERS], "}</answer>"];

/** Messages of a thought and one of several actions, which the last token before it may all follow. */
function thinking(actions: readonly Action[], [opening, closing] = ["<think>", "</think>"]) {
  const think = [ANY, opening, " so", closing];
  return [think, ...actions.flatMap((action) => ending(closing, action))];
}

function ending(before: string, [opening, contents, closing]: Action): string[][] {
  return contents.map((text) => [before, opening, text, closing, END]);
}

/** A thought without tags, and an answer in a box. */
const boxAlone: Action = ["\\boxed{", [...ANSWERS], "}."];
const solved = [[ANY, " so"], ...ending(" so", boxAlone)];
/** A program, which ends a message of its own; behind its result comes the answer. */
function computed(opening: string, program: string, closing: string): string[][] {
  return [...solved, [" so", opening, program, closing]];
}

/** The line break is the program's: as a part of the closing fence it would be taken out of an opening one. */
const fenced = computed("```python\n", "1+1\n", "```");
const searchR1 = thinking([searchTag, answerTag]);
const given = thinking([answerTag]);
const toolStar = thinking([searchTag, ["<python>", ["1+1"], "</python>"], boxed]);
const json = (key: string): string => `{"name": "search", "${key}": {"query": "river"}}`;

/** What the random model of a recipe's paper tier is likely to write, in the recipe's own tags. */
export const paperScripts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "agent-distillation": computed("Code:\n```py\n", 'final_answer("one")', "\n```<end_code>"),
  "agent-r1": thinking([["<tool_call>\n", [json("arguments")], "\n</tool_call>"], answerTag]),
  arena: [
    [ANY, "<think>", " so", "</think>", "<relevance>", "1, 2", "</relevance>", "<analysis>"],
    ["<analysis>", " as", "</analysis>"],
    ...ending("</analysis>", answerTag),
  ],
  arpo: toolStar,
  autorefine: [
    ...thinking([searchTag, ["<refine>", [" thus"], "</refine>"], answerTag]),
    ...ending("</refine>", answerTag),
  ],
  "beta-grpo": searchR1,
  cir: fenced,
  corag: [[ANY, " which river?", END], ...ANSWERS.map((answer) => [ANY, answer, END])],
  cort: fenced,
  "diversity-po": thinking([boxAlone]),
  dto: [...solved, [" so", " Wait", " so"]],
  exsearch: searchR1,
  fspo: [...given, [ANY, " so"]],
  gigpo: searchR1,
  igpo: searchR1,
  inforage: searchR1,
  "interleaved-reasoning": given,
  mem1: searchR1,
  "multi-turn-rl-agent": thinking(
    [["<tool>", [json("args")], "</tool>"], answerTag],
    ["<reasoning>", "</reasoning>"],
  ),
  "multi-turn-rl-agent-ppo": searchR1,
  "one-shot-rlvr": solved,
  "r1-searcher": thinking([["<|begin_of_query|>", QUERY, "<|end_of_query|>"], answerTag]),
  rare: given,
  research: thinking([searchTag, boxed]),
  retool: computed("<code>\n```python\n", "1+1", "\n```\n</code>"),
  sdar: searchR1,
  "search-r1": searchR1,
  "search-r1-empirical": searchR1,
  "search-r1-ppo": searchR1,
  select2reason: solved,
  "simplerl-zoo": solved,
  smartrag: [
    ...ending(ANY, ["[Search]", QUERY, "\n"]),
    ...ending(ANY, ["[Answer]", [...ANSWERS], "\n"]),
  ],
  "speed-rl": solved,
  start: fenced,
  stepsearch: searchR1,
  sws: solved,
  "tool-star": toolStar,
  treerpo: solved,
  "verifier-pitfalls": solved,
};

/** What a model of a role is likely to reply, as its reward reads it. */
export const roleScripts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  fspo: [" true", " false"].map((verdict) => [ANY, verdict, END]),
  "verifier-pitfalls": ["correct", "incorrect"].map((verdict) => [
    ...[ANY, JSON.stringify({ verdict }), END],
  ]),
};

/** The marks of another family of models, in short. */
export const foreignTemplate = String.raw`{%- for message in messages -%}
{{- ('<|User|>' if message.role == 'user' else '<|Assistant|>') + message.content -}}
{%- if message.role == 'assistant' -%}{{- '<|im_end|>' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|Assistant|>' -}}{%- endif -%}`;

/** As Qwen2.5 renders messages, in short: tools in the system message, their results as messages of the user. */
export const chatTemplate = String.raw`{%- if tools -%}
{{- '<|im_start|>system\n# Tools\n<tools>' -}}
{%- for tool in tools -%}{{- '\n' + (tool | tojson) -}}{%- endfor -%}
{{- '\n</tools><|im_end|>\n' -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' -}}
{%- else -%}
{{- '<|im_start|>' + message.role + '\n' + (message.content or '') -}}
{%- for call in message.tool_calls or [] -%}
{{- '\n<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}`;
