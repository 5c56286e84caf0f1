import { RolloutError } from "../../base/errors.ts";
import { shorten } from "../../base/format.ts";
import { suggest } from "../../base/nearest.ts";
import { type Protocol, textAfter } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { AwaitedTurn } from "../../rollout/awaited-text.ts";

/** Who types. */
export interface Typist {
  /** The next line; null at the end of the input. @param continues whether the message has lines already. */
  line(continues: boolean): Promise<string | null>;
  /** Tells something that is no part of the episode. */
  say(text: string): void;
}

/** What an episode lets a player do. */
export interface Moves {
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** Whether the episode ends with an answer. */
  answers: boolean;
}

/** A message that was typed. */
export interface Typed {
  /** What follows the prefill. */
  text: string;
  /** Whether a command wrote a part of it. */
  isWritten: boolean;
}

/**
 * Reads one message. An empty line ends it, as does a line that completes an action, or the end of the input. Between the tags of a call
 * or an answer, empty lines and slashes are text.
 * @throws {RolloutError} EPISODE_QUIT for /quit, and for an input that has ended.
 */
export async function typedMessage(
  turn: Pick<AwaitedTurn, "prefill" | "isWhole">,
  typist: Typist,
  moves: Moves,
): Promise<Typed> {
  const { prefill, isWhole } = turn;
  let text = "";
  for (let lines = 0; ;) {
    const line = await typist.line(lines > 0);
    if (line === null && lines === 0) throw quit("the input ended");
    if (line === null || line === "/send") return { text, isWritten: false };
    if (line === "/quit") throw quit("the player quit");
    const isOpen = openTag(text, moves.protocol);
    if (line === "/help") typist.say(helpText(moves));
    else if (line.startsWith("/") && !isOpen) {
      const written = writtenBy(line, prefill + text, moves);
      if ("text" in written) return { text: text + written.text, isWritten: true };
      typist.say(written.problem);
    } else if (line.trim() !== "" || isOpen) {
      text += lines === 0 ? line : `\n${line}`;
      lines += 1;
      if (isWhole(prefill + text)) return { text, isWritten: false };
    } else if (lines > 0) return { text, isWritten: false };
  }
}

function quit(why: string): RolloutError {
  return new RolloutError("EPISODE_QUIT", `${why} before the episode was over.`);
}

/** Whether a text is between the tags of a call, an answer or a block. */
function openTag(text: string, { tags }: Protocol): boolean {
  return tags.some(
    ({ holds, opening, closing }) =>
      holds !== "thought" &&
      holds !== "observation" &&
      text.lastIndexOf(opening) > text.lastIndexOf(closing),
  );
}

/** The names behind a slash that write an action. */
export function actionNames({ tools, answers }: Omit<Moves, "protocol">): string[] {
  return [...tools.map((tool) => tool.function.name), ...(answers ? ["answer"] : [])];
}

/** What a command writes after the message so far. */
function writtenBy(
  line: string,
  before: string,
  moves: Moves,
): { text: string } | { problem: string } {
  const [, name = "", input = ""] = /^\/(\S*)\s*(.*)$/.exec(line) ?? [];
  const known = actionNames(moves);
  if (!known.includes(name)) {
    const all = [...known, "send", "help", "quit"].map((each) => `/${each}`);
    return {
      problem: `"/${name}" is no command. ${suggest(`/${name}`, all)} A space before the slash makes the line text.`,
    };
  }
  if (input === "") return { problem: `/${name} has no input. Write it behind: /${name} TEXT` };
  const action = { tool: name, input };
  return { text: textAfter(before, { thought: "", action }, moves) };
}

/** Characters of a tool's description. */
const DESCRIPTION = 60;

function helpText(moves: Moves): string {
  const { tools, answers } = moves;
  const rows: [string, string][] = [
    ...tools.map(({ function: { name, description } }): [string, string] => [
      `/${name} TEXT`,
      shorten(description, DESCRIPTION),
    ]),
    ...(answers ? [["/answer TEXT", "answers, which ends the episode"] as [string, string]] : []),
    ["/send", "sends the message as it is, with open tags or without a text"],
    ["/quit", "ends the episode; what was played is recorded (also Ctrl-D)"],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    "A message may have several lines. An empty line, or the end of an action, sends it.",
    ...rows.map(([name, does]) => `  ${name.padEnd(width)}  ${does}`),
    "A space before a slash makes the line text.",
  ].join("\n");
}
