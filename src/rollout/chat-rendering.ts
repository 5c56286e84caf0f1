import { ConfigError } from "../base/errors.ts";
import type { ChatTemplate, TemplateMessage } from "../chat/chat-template.ts";
import { requireStablePrefixes } from "../chat/prefix-stability.ts";
import { PROBES, type Probe } from "../chat/probes.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import { type ChatOptions, replyPlaces } from "./model-settings.ts";
import type { MessageTemplate } from "./served/message-keys.ts";

/** Rendering of text for a chat model. */
export interface Rendering {
  opening(prompt: string): string;
  /** The template's text around a reply of the environment. @param ended whether the model closed its message with EOS. */
  around(ended: boolean): { before: string; after: string };
  /** Whether the template puts its own marks around the results of tools, so that a protocol's are left out. */
  readonly wrapsResults: boolean;
  /** Renders the messages of agents from outside; absent: their texts are read as they are. */
  readonly template?: MessageTemplate;
}

const MARK = "\u2063reply\u2063";

/**
 * Renders by a model's own template, which must not rewrite earlier turns: checked here. `tools`: those that the template describes.
 * @throws {ConfigError} CHAT_TEMPLATE_REWRITES. @throws {DataError} CHAT_TEMPLATE_REFUSED, CHAT_TEMPLATE_BAD
 */
export function chatRendering(
  template: ChatTemplate,
  tokenizer: Tokenizer,
  { replies, system, tools }: ChatOptions & { tools?: readonly ToolSchema[] },
): Rendering {
  const named = tools === undefined ? {} : { tools };
  const start: TemplateMessage[] =
    system === undefined ? [] : [{ role: "system", content: system }];
  const prompted = (prompt: string): string =>
    template.render([...start, { role: "user", content: prompt }], {
      addGenerationPrompt: true,
      ...named,
    });
  const served: MessageTemplate = { showsTools: true, render: (...of) => template.render(...of) };
  if (replies === "inline") {
    const around = () => ({ before: "", after: "" });
    return { opening: prompted, around, wrapsResults: false, template: served };
  }
  requireStablePrefixes(template, { tokenizer, ...named, probes: probesOf(replies) });
  const [before, after] = textAround(template, start, replies);
  const endings = tokenizer.endIds.map((id) => tokenizer.decode([id]));
  const end = endings.find((text) => before.startsWith(text)) ?? "";
  return {
    opening: prompted,
    around: (ended) => ({ before: ended ? before.slice(end.length) : before, after }),
    wrapsResults: replies === "tool",
    template: served,
  };
}

/** Test conversations like those of the run: one question and tool results, or several user messages without tools. */
function probesOf(replies: "user" | "tool"): Probe[] {
  const count = ({ messages }: Probe, role: string): number =>
    messages.filter((message) => message.role === role).length;
  return PROBES.filter((probe) =>
    replies === "tool" ? count(probe, "user") === 1 : count(probe, "tool") === 0,
  );
}

function textAround(
  template: ChatTemplate,
  start: readonly TemplateMessage[],
  role: "user" | "tool",
): [before: string, after: string] {
  const asked = [...start, { role: "user", content: "q" }];
  const shown = `${template.render(asked, { addGenerationPrompt: true })}a`;
  const conversation = [...asked, { role: "assistant", content: "a" }, { role, content: MARK }];
  const whole = template.render(conversation, { addGenerationPrompt: true });
  const [before, after, ...more] = whole.slice(shown.length).split(MARK);
  if (!whole.startsWith(shown) || after === undefined || more.length > 0 || before === undefined) {
    const message = `${template.where}: changes a message of the role "${role}" after the model's own, or the earlier messages. Set policy.chat.replies to another of ${replyPlaces.join(", ")}.`;
    throw new ConfigError("CHAT_TEMPLATE_REWRITES", message);
  }
  return [before, after];
}
