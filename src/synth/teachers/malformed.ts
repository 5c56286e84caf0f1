import type { Random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { PlannedMessage, Protocol } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";

const share = z.number().min(0).max(1).default(0);

/** Shares of messages whose tags are broken, by kind. */
export const malformedSchema = z
  .strictObject({
    /** The action's tag is never closed. */
    unclosed: share,
    /** The action's closing tag comes before its opening one. */
    order: share,
    /** Text between the thought and the action, outside all tags. Text after an action would be cut. */
    textOutside: share,
    /** No tag at all. */
    none: share,
    /** The text between the action's tags lacks its last sign: a call in JSON cannot be read. */
    torn: z.number().min(0).max(1).optional(),
  })
  .refine((shares) => sumOf(shares) <= 1, "expected shares whose sum is at most 1");

export type Malformed = z.output<typeof malformedSchema>;

const STRAY_TEXT = " So";

/** A message as the protocol writes it, or broken in one of the ways that `shares` name. */
export function writeWithSlips(
  message: PlannedMessage,
  shares: Malformed,
  { protocol, tools }: { protocol: Protocol; tools: readonly ToolSchema[] },
  draw: Random,
): string {
  const whole = protocol.write(message, tools);
  const kind = sumOf(shares) === 0 ? null : drawnKind(shares, draw.next());
  if (kind === null) return whole;
  const plain = ` ${message.thought} ${message.action.input}`;
  const action = protocol.write({ thought: "", action: message.action }, tools);
  const tag = protocol.tags.find(({ closing }) => action.endsWith(closing));
  if (kind === "none" || tag === undefined) return plain;
  const thought = whole.slice(0, whole.length - action.length);
  const { opening: open, closing: close } = tag;
  const unclosed = action.slice(0, -close.length);
  switch (kind) {
    case "unclosed":
      return `${thought}${unclosed}`;
    case "order":
      return `${thought}${unclosed.replace(open, close)}${open}`;
    case "torn":
      return `${thought}${unclosed.trimEnd().slice(0, -1)}${close}`;
    case "textOutside":
      return `${thought}${STRAY_TEXT}${action}`;
  }
}

function drawnKind(shares: Malformed, drawn: number): keyof Malformed | null {
  let left = drawn;
  for (const kind of Object.keys(shares) as (keyof Malformed)[]) {
    left -= shares[kind] ?? 0;
    if (left < 0) return kind;
  }
  return null;
}

function sumOf(shares: Readonly<Record<string, number | undefined>>): number {
  return Object.values(shares).reduce<number>((sum, each = 0) => sum + each, 0);
}
