import type { RenderOptions, TemplateMessage } from "../../chat/chat-template.ts";

/** Renders messages as the text that a model reads. */
export interface MessageTemplate {
  /** Whether it can tell the model of tools. */
  readonly showsTools: boolean;
  render(messages: readonly TemplateMessage[], options?: RenderOptions): string;
}

/** For models without a chat template: the texts of the messages one after another, as they are. */
export const plainTemplate: MessageTemplate = {
  showsTools: false,
  render: (messages) => messages.map(({ content }) => String(content)).join(""),
};
