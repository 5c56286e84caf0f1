import { DataError } from "../../base/errors.ts";
import type { ChatTemplate } from "../../chat/chat-template.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Telling } from "./conversation.ts";

/** Files to decode a teacher's tokens. */
export interface TeacherFiles {
  tokenizer: Tokenizer;
  /** null: no chat template, so prompts were sent unchanged. */
  template: ChatTemplate | null;
}

/** Decodes a teacher's messages and prompts. @param teacher null: the text itself was recorded. @throws {DataError} EXPORT_TOKENS */
export function teacherText(
  teacher: TeacherFiles | null,
  where: string,
): Pick<Telling, "textOf" | "promptOf"> {
  const template = teacher?.template ?? null;
  const frames = template === null ? [] : framesOf(template);
  return {
    textOf({ ids, text }) {
      if (ids.length === 0) return text ?? "";
      if (teacher === null) {
        const message = `${where}: has token ids, but the teacher's tokenizer was not saved. Give the folder of the teacher's model with --tokenizer.`;
        throw new DataError("EXPORT_TOKENS", message);
      }
      const { tokenizer } = teacher;
      const { beginId, endIds } = tokenizer;
      const from = ids[0] === beginId ? 1 : 0;
      return tokenizer.decode(ids.slice(from, endIds.includes(ids.at(-1) ?? -1) ? -1 : ids.length));
    },
    promptOf(text) {
      for (const frame of frames) {
        const found = frame(text);
        if (found !== null) return found;
      }
      return { system: null, user: text };
    },
  };
}

const MARKS = ["\u2063system\u2063", "\u2063user\u2063"] as const;

type Frame = (text: string) => { system: string | null; user: string } | null;

function framesOf(template: ChatTemplate): Frame[] {
  const [system, user] = MARKS;
  const asked = { role: "user", content: user };
  const render = (messages: { role: string; content: string }[]): string[] | null => {
    try {
      return template.render(messages, { addGenerationPrompt: true }).split(/\u2063\w+\u2063/);
    } catch (error) {
      // A template without system messages throws.
      if (error instanceof DataError) return null;
      throw error;
    }
  };
  const whole = render([{ role: "system", content: system }, asked]);
  const bare = render([asked]);
  const withSystem: Frame = (text) => {
    const [head, between, tail] = whole ?? [];
    if (head === undefined || between === undefined || tail === undefined) return null;
    const inner = inside(text, head, tail);
    const at = inner?.indexOf(between) ?? -1;
    if (inner === null || at < 0) return null;
    return { system: inner.slice(0, at), user: inner.slice(at + between.length) };
  };
  const withoutSystem: Frame = (text) => {
    const [head, tail] = bare ?? [];
    const inner = head === undefined || tail === undefined ? null : inside(text, head, tail);
    return inner === null ? null : { system: null, user: inner };
  };
  return [withSystem, withoutSystem];
}

/** The text between two texts; null if they do not enclose it. BOS is left out: the model adds it. */
function inside(text: string, head: string, tail: string): string | null {
  const start = [head, head.replace(/^<[^>]*>/, "")].find(
    (each) => each !== "" && text.startsWith(each),
  );
  const fits = start !== undefined && text.length >= start.length + tail.length;
  return fits && text.endsWith(tail) ? text.slice(start.length, text.length - tail.length) : null;
}
