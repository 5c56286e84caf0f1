import { shorten } from "../../base/format.ts";
import { budgetsAt } from "../../env/budget.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { AwaitedTurn } from "../../rollout/awaited-text.ts";
import type { Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { type Line, painted, piece, wrap } from "../../view/styled.ts";
import { labelledLines, ownedLines, rule } from "../../view/trajectory-lines.ts";
import type { CliContext } from "../command.ts";
import { screenOf } from "../trace/screen.ts";
import { openTypedLines } from "./typed-lines.ts";
import { actionNames, typedMessage } from "./typed-message.ts";

/** A game at the terminal: what the policy would read, and what the player types. All of it goes to stderr. */
export interface GameScreen {
  begin(title: string, task: string): void;
  /** Asks for a message: one after another, also where a strategy asks for several. */
  readonly write: (turn: AwaitedTurn, signal: AbortSignal) => Promise<string>;
  /** Shows what the environment made of messages, once for each. */
  readonly show: (trajectory: Trajectory) => void;
  close(): void;
}

export function openGameScreen(environment: Environment, context: CliContext): GameScreen {
  const { columns, colours } = screenOf(process.stderr, process.env);
  const view = { columns, plain: !colours, shortenTo: Infinity };
  const typed = openTypedLines();
  const print = (lines: readonly Line[]): void => {
    if (lines.length > 0) context.note(painted(lines, colours));
  };
  const typist = {
    line: (continues: boolean) => typed.next(continues ? "… " : "> "),
    say: (text: string) => {
      print(wrap([piece(text, "note")], columns));
    },
  };
  let messages = 0;
  let shown = 0;
  let before: AwaitedTurn["conversation"] | null = null;
  const ask = async (turn: AwaitedTurn): Promise<string> => {
    const continues = turn.conversation === before;
    before = turn.conversation;
    if (!continues) messages += 1;
    const title = `Message ${messages}${continues ? " continues" : ""}`;
    print([[], rule(`${title} · at most ${turn.maxTokens} tokens`, view)]);
    print(promptLines(continues ? { ...turn, conversation: [] } : turn, view));
    const { protocol, toolSchemas: tools, answers } = environment;
    const { text, isWritten } = await typedMessage(turn, typist, { protocol, tools, answers });
    if (isWritten || !process.stdin.isTTY) print(ownedLines("policy", text, view));
    return text;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    begin(title, task) {
      print([
        [piece(title, "bold"), piece(` · ${task}`, "dim")],
        ...introduction(environment).flatMap((text) => wrap([piece(text, "dim")], columns)),
      ]);
    },
    write(turn, signal) {
      const message = last.then(() => {
        signal.throwIfAborted();
        return ask(turn);
      });
      // Nothing is asked after /quit, which ends all that waits.
      last = message;
      message.catch(() => undefined);
      return message;
    },
    show({ turns, calls }) {
      for (const turn of turns.slice(shown))
        print(effectLines(turn, calls[turn.call]?.finish === "length", view));
      shown = turns.length;
    },
    close: () => {
      typed.close();
    },
  };
}

type View = Parameters<typeof ownedLines>[2];

/** What the policy reads before a message, and the prefill of the message. */
function promptLines({ conversation, opens, prefill }: AwaitedTurn, view: View): Line[] {
  const unread = opens ? conversation : conversation.slice(-1);
  return [
    ...unread.flatMap(({ role, content }, i) => {
      const reply = i === 0 && opens ? "template" : "environment";
      return ownedLines(role === "assistant" ? "policy" : reply, content ?? "", view);
    }),
    ...ownedLines("inserted", prefill, view),
  ];
}

/** Characters of a message that a budget cut. */
const CUT_SHOWN = 60;

function effectLines(turn: Turn, isCut: boolean, view: View): Line[] {
  const { text, problems, observations, status, reward } = turn;
  const wrong = [...problems, ...observations.flatMap(({ problem }) => problem ?? [])];
  const state = [status, reward === undefined ? undefined : `reward ${reward}`];
  const labelled = (label: string, said: string, style: "bad" | "note"): Line[] =>
    labelledLines(label, piece(said, style), view);
  return [
    ...(isCut ? labelled("cut", `to ${JSON.stringify(shorten(text, CUT_SHOWN))}`, "bad") : []),
    ...wrong.flatMap(({ code, message }) => labelled("problem", `${code}: ${message}`, "bad")),
    ...(state.some((each) => each !== undefined)
      ? labelled("state", state.filter((each) => each !== undefined).join(" · "), "note")
      : []),
  ];
}

/** Budgets and commands. @example "Budgets: 4 turns (final-turn) · turn 48 tokens (cut)" */
function introduction({ budgets, toolSchemas: tools, answers }: Environment): string[] {
  const limits = budgetsAt(budgets, undefined).map(({ scope, unit, tool, limit, onExhausted }) => {
    const of = scope === "trajectory" ? "" : `${scope} `;
    return `${of}${limit} ${tool === undefined ? "" : `${tool} `}${unit} (${onExhausted})`;
  });
  const commands = actionNames({ tools, answers }).map((name) => `/${name} TEXT`);
  return [
    ...(limits.length === 0 ? [] : [`Budgets: ${limits.join(" · ")}`]),
    `Commands: ${[...commands, "/help", "/quit"].join(" · ")}`,
    "An empty line, or the end of an action, sends the message.",
  ];
}
