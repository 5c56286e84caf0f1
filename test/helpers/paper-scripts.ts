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

const searchR1 = thinking([searchTag, answerTag]);
/** A hint may have opened the thought. */
const hinted = [...searchR1, [ANY, " so"]];
const given = thinking([answerTag]);
const toolStar = thinking([searchTag, ["<python>", ["1+1"], "</python>"], boxed]);
const json = (key: string): string => `{"name": "search", "${key}": {"query": "river"}}`;

/** What the random model of a recipe's paper tier is likely to write, in the recipe's own tags. */
export const paperScripts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "agent-r1": thinking([["<tool_call>\n", [json("arguments")], "\n</tool_call>"], answerTag]),
  arpo: toolStar,
  arena: [
    [ANY, "<think>", " so", "</think>", "<relevance>", "1, 2", "</relevance>", "<analysis>"],
    ["<analysis>", " as", "</analysis>"],
    ...ending("</analysis>", answerTag),
  ],
  autorefine: [
    ...thinking([searchTag, ["<refine>", [" thus"], "</refine>"], answerTag]),
    ...ending("</refine>", answerTag),
  ],
  "beta-grpo": searchR1,
  corag: [[ANY, " which river?", END], ...ANSWERS.map((answer) => [ANY, answer, END])],
  cort: hinted,
  exsearch: searchR1,
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
  "r1-searcher": thinking([["<|begin_of_query|>", QUERY, "<|end_of_query|>"], answerTag]),
  rare: given,
  research: thinking([searchTag, boxed]),
  sdar: searchR1,
  "search-r1": searchR1,
  "search-r1-empirical": searchR1,
  "search-r1-ppo": searchR1,
  smartrag: [
    ...ending(ANY, ["[Search]", QUERY, "\n"]),
    ...ending(ANY, ["[Answer]", [...ANSWERS], "\n"]),
  ],
  start: hinted,
  stepsearch: searchR1,
  "tool-star": toolStar,
};

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
