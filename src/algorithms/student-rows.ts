import { DataError } from "../base/errors.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import {
  type Call,
  type InsertedHint,
  type Segment,
  type TokenRow,
  type Trajectory,
  type Turn,
  tokenRows,
} from "../trajectory/trajectory.ts";
import {
  type Drawer,
  type Marks,
  areTokensOf,
  firstText,
  isRendered,
  marksAround,
  openings,
  textOf,
  throughChat,
} from "./drawn-tokens.ts";

/** The model that is to learn from a trajectory. */
export interface Student extends Drawer {
  /** Texts at which its rollouts end a message: no end token follows them. */
  stopStrings?: readonly string[];
}

/**
 * What becomes of hints that were put into a teacher's messages: learned as the policy's own words, kept as context, or cut out. What
 * was withheld (a hint in a prompt) is cut out in any case.
 */
export const hintUses = ["learn", "read", "remove"] as const;
export type HintUse = (typeof hintUses)[number];

/** How a trajectory is read for a student. */
export interface ReadingOptions {
  hints: HintUse;
  /** The model that drew it, where its tokens or its chat template are not the student's; null: unknown. */
  drawnWith: Drawer | null;
  /** File, line or id, for messages. */
  where: string;
}

/**
 * The token sequences of a trajectory in its student's tokens: of each, owners say what may be learned (learned hints are the policy's).
 *
 * Token ids are taken as they were drawn where they are the student's own (`areTokensOf`) and begin as its prompts do. Text, and ids that
 * another tokenizer, another chat template or a plain prompt drew, are put to the student as a rollout would: prompts as the start of a
 * sequence, replies within what its chat template puts around them, each part encoded by itself, an end token after a message that its
 * writer ended (unless the student's rollouts stop there before one).
 *
 * @throws {DataError} SAMPLE_TOKENS_FOREIGN when they were drawn by another tokenizer or through another chat template, which is not known,
 *   or whose marks are not where it puts them around a prompt.
 */
export function studentRows(
  trajectory: Trajectory,
  student: Student,
  options: ReadingOptions,
): TokenRow[] {
  const reader = readerOf(trajectory, student, options);
  const calls: Call[] = [];
  trajectory.calls.forEach((call, index) => {
    const turnOf = (of: number | null): Turn | undefined =>
      trajectory.turns.find((turn) => turn.call === of);
    const place = { call, index, turn: turnOf(index), answered: turnOf(call.parent) };
    const prompt = reader.prompt(place, calls);
    calls.push({ ...call, prompt, completion: reader.completion(place) });
  });
  return tokenRows({ calls });
}

/** One call of a trajectory that is read. */
interface CallPlace {
  call: Call;
  index: number;
  turn: Turn | undefined;
  /** The turn before it, whose results its prompt shows. */
  answered: Turn | undefined;
}

interface Reader {
  /** @param before calls that were read already. */
  prompt(place: CallPlace, before: readonly Call[]): Segment[];
  completion(place: CallPlace): Segment[];
}

function readerOf(trajectory: Trajectory, student: Student, options: ReadingOptions): Reader {
  const { tokenizer, rendering } = student;
  const all = trajectory.calls.flatMap(({ prompt, completion }) => [...prompt, ...completion]);
  const hints = { use: options.hints, list: trajectory.hints ?? [] };
  if (all.every(({ ids }) => ids.length === 0))
    return textReader(student, { tokenizer, marks: null }, hints);
  const isOwn = all.every(({ text = "" }) => text === "") && areTokensOf(tokenizer, trajectory);
  if (isOwn && (rendering === undefined || isRendered(trajectory, tokenizer, rendering)))
    return idReader(tokenizer, hints);
  const isMarked = isOwn && throughChat(trajectory, tokenizer);
  if (isOwn && !isMarked) return textReader(student, { tokenizer, marks: null }, hints);
  const { drawnWith, where } = options;
  const [found, needed] = isMarked
    ? ["was drawn through a chat template other than the policy's", "template"]
    : ["its token ids are not those of the policy's tokenizer", "tokenizer"];
  const way =
    "Draw it from a teacher that is asked over an endpoint (its text is kept), or start from a model with the teacher's";
  if (drawnWith === null || !areTokensOf(drawnWith.tokenizer, trajectory)) {
    throw new DataError(
      "SAMPLE_TOKENS_FOREIGN",
      `${where}: ${found}, and the teacher's is not here to read it with. ${way} ${needed}.`,
    );
  }
  const marks = marksAround(trajectory, drawnWith);
  if (marks === null && throughChat(trajectory, drawnWith.tokenizer)) {
    throw new DataError(
      "SAMPLE_TOKENS_FOREIGN",
      `${where}: was drawn through a chat template, and its prompt is not within the marks of the teacher's own, so they cannot be taken out again. ${way} tokenizer and template.`,
    );
  }
  return textReader(student, { tokenizer: drawnWith.tokenizer, marks }, hints);
}

interface Hints {
  use: HintUse;
  list: readonly InsertedHint[];
}

/** Ids stay; what is withheld or removed is left out. */
function idReader(tokenizer: Tokenizer, hints: Hints): Reader {
  const say = (segment: Segment): string => textOf(segment, tokenizer);
  const take = (segment: Segment, index: number): Segment[] => {
    const hint = hintOf(say(segment), index, hints);
    if (segment.owner !== "inserted" || hint === null || hints.use === "read") return [segment];
    if (hints.use === "learn") return [{ ...segment, owner: "policy" }];
    return hint.before === "" ? [] : [{ ...segment, ids: tokenizer.encode(hint.before) }];
  };
  return {
    prompt: ({ call, index, turn }) => {
      const opening = openingSegments(call, turn, say);
      return call.prompt.flatMap((segment) => {
        if (segment.owner !== "inserted") return [segment];
        return opening.has(segment) ? take(segment, index) : [];
      });
    },
    completion: ({ call, index }) => call.completion.flatMap((segment) => take(segment, index)),
  };
}

/** Re-encodes every text with the student's tokenizer. @param source what the ids are of, and the marks around their prompts, if any. */
function textReader(
  student: Student,
  { tokenizer: source, marks }: { tokenizer: Tokenizer; marks: Marks | null },
  hints: Hints,
): Reader {
  const { tokenizer, rendering, stopStrings = [] } = student;
  const say = (segment: Segment): string => textOf(segment, source);
  const segment = (owner: Segment["owner"], ids: number[]): Segment[] =>
    ids.length === 0 ? [] : [{ owner, ids, logprobs: null }];
  const spoken = (text: string, owner: "policy" | "inserted", index: number): Segment[] => {
    const hint = owner === "inserted" ? hintOf(text, index, hints) : null;
    if (hint === null || hints.use === "read") return segment(owner, tokenizer.encode(text));
    if (hints.use === "learn") return segment("policy", tokenizer.encode(text));
    return segment("inserted", tokenizer.encode(hint.before));
  };
  const around = (parent: Call | undefined): { before: string; after: string } => {
    const last = parent?.completion.at(-1)?.ids.at(-1);
    const ended = last !== undefined && tokenizer.endIds.includes(last);
    return rendering?.around(ended) ?? { before: "", after: "" };
  };
  return {
    prompt({ call, index, turn, answered }, before) {
      const opening = openingSegments(call, turn, say);
      const begun = call.prompt
        .filter((each) => opening.has(each))
        .flatMap((each) => spoken(say(each), "inserted", index));
      const shown = call.prompt.filter(({ owner }) => owner !== "inserted");
      if (call.parent === null) {
        const prompt = firstText(shown, source);
        const text =
          marks === null ? prompt : prompt.slice(marks.before.length, -marks.after.length);
        const start = tokenizer.encodeStart(rendering?.opening(text) ?? text);
        return [...segment("template", start), ...begun];
      }
      const own = around(before[call.parent]);
      const results = rendering?.wrapsResults === true ? (answered?.observations ?? []) : [];
      const bare = results.map((each) => each.text).join("\n\n");
      const replies = shown.flatMap((each) => {
        if (each.owner !== "environment")
          return marks === null ? segment("template", tokenizer.encode(say(each))) : [];
        const text = results.length === 0 ? say(each) : bare;
        return [
          ...segment("template", tokenizer.encode(own.before)),
          ...segment("environment", tokenizer.encode(text)),
          ...segment("template", tokenizer.encode(own.after)),
        ];
      });
      return [...replies, ...begun];
    },
    completion({ call, index }) {
      const written = call.completion.flatMap((each) =>
        spoken(say(each), each.owner === "inserted" ? "inserted" : "policy", index),
      );
      const last = call.completion.at(-1)?.ids.at(-1);
      const ended = call.finish === "eos" || (last !== undefined && source.endIds.includes(last));
      const text = call.completion.map(say).join("");
      const isStopped = stopStrings.some((stop) => text.endsWith(stop));
      if (!ended || isStopped || tokenizer.endId === null) return written;
      return [...written, ...segment("policy", [tokenizer.endId])];
    },
  };
}

/** The hint that a segment ends with, and what stands before it: part of a token that was said again. */
function hintOf(text: string, index: number, { list }: Hints): { before: string } | null {
  const hint = list.find(
    (each) => each.call === index && each.text !== "" && text.endsWith(each.text),
  );
  return hint === undefined ? null : { before: text.slice(0, text.length - hint.text.length) };
}

/**
 * Segments of a prompt that begin the message, as its turn says it; others that were put there are withheld. A call without a turn
 * was asked by a strategy itself, which withholds nothing.
 */
function openingSegments(
  call: Call,
  turn: Turn | undefined,
  say: (segment: Segment) => string,
): ReadonlySet<Segment> {
  const texts = openings(call, say);
  const written = call.completion.map(say).join("");
  const begins = (opening: string): boolean => {
    if (turn === undefined) return true;
    return turn.text === "" ? opening === "" : (opening + written).startsWith(turn.text);
  };
  const at = texts.findIndex(begins);
  const count = at < 0 ? 0 : texts.length - 1 - at;
  return new Set(count === 0 ? [] : call.prompt.slice(-count));
}
