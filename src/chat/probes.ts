import type { TemplateMessage } from "./chat-template.ts";

/** A test conversation for chat templates. */
export type Probe = { name: string; messages: readonly TemplateMessage[]; tools: boolean };

const system: TemplateMessage = { role: "system", content: "Answer from what you find." };
const user = (content: string): TemplateMessage => ({ role: "user", content });
const says = (content: string, more: object = {}): TemplateMessage => {
  return { role: "assistant", content, ...more };
};
const thought = (content: string): string => `<think>\nWhat is known?\n</think>\n\n${content}`;

/** Nine letters and digits: some templates reject any other id. */
const CALL_ID = "call00001";
const call = (content: string): TemplateMessage =>
  says(content, {
    tool_calls: [
      {
        id: CALL_ID,
        type: "function",
        function: { name: "search", arguments: { query: "the mill" } },
      },
    ],
  });
const result: TemplateMessage = {
  role: "tool",
  name: "search",
  content: "Doc 1: The mill was built in 1874.",
  tool_call_id: CALL_ID,
};

/** A search tool in the format of OpenAI's `tools`, for templates that list tools. */
export const PROBE_TOOLS: readonly unknown[] = [
  {
    type: "function",
    function: {
      name: "search",
      description: "Finds passages.",
      parameters: {
        type: "object",
        properties: { query: { type: "string", description: "What to look for." } },
        required: ["query"],
      },
    },
  },
];

/** Conversations of search agents. */
export const PROBES: readonly Probe[] = [
  {
    name: "questions and answers",
    messages: [system, user("Who built it?"), says("Mara Voss."), user("When?"), says("In 1874.")],
    tools: false,
  },
  {
    name: "no system turn",
    messages: [user("Who built it?"), says("Mara Voss."), user("When?"), says("In 1874.")],
    tools: false,
  },
  {
    name: "searches as tags in plain turns",
    messages: [
      user("When was it built?"),
      says("<search> the mill </search>"),
      user("<information>Doc 1: The mill was built in 1874.</information>"),
      says("<answer> 1874 </answer>"),
    ],
    tools: false,
  },
  {
    name: "calls of a tool",
    messages: [system, user("When?"), call(""), result, call("Once more."), result, says("1874.")],
    tools: true,
  },
  {
    name: "a question after calls of a tool",
    messages: [
      user("When?"),
      call(""),
      result,
      says("1874."),
      user("By whom?"),
      says("Mara Voss."),
    ],
    tools: true,
  },
  {
    name: "thinking in an earlier turn",
    messages: [user("Who?"), says(thought("Mara Voss.")), user("When?"), says(thought("1874."))],
    tools: false,
  },
  {
    name: "thinking before a call of a tool",
    messages: [user("When?"), call(thought("")), result, says(thought("1874."))],
    tools: true,
  },
  {
    name: "thinking as a field of a message",
    messages: [
      user("Who?"),
      says("Mara Voss.", { reasoning_content: "What is known?" }),
      user("When?"),
      says("1874.", { reasoning_content: "It was 1874." }),
    ],
    tools: false,
  },
  {
    name: "blanks around what is written",
    messages: [user("Who?"), says(" Mara Voss. \n"), user("When?"), says("\nIn 1874.")],
    tools: false,
  },
];
