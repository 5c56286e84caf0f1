import { escapeRegExp } from "../../base/escape-reg-exp.ts";
import { z } from "../../base/schema.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { type AnswerRule, answerRuleSchema } from "../answer-rule.ts";
import {
  between,
  firstEnd,
  isFence,
  type Protocol,
  type ProtocolTag,
  tagName,
  tagPair,
} from "./protocol.ts";

const ANSWER = "<answer>(.*?)</answer>";

/** Text whose braces are balanced, to a depth that no answer passes. */
const balanced = (depth: number): string =>
  depth === 0 ? "[^{}]*" : `(?:[^{}]|\\{${balanced(depth - 1)}\\})*`;

/** A box that holds the answer: "\\boxed{\\frac{1}{2}}". */
const BOX_PATTERN = `\\\\boxed\\{(${balanced(3)})\\}`;
const BOX: ProtocolTag = {
  name: "boxed",
  holds: "answer",
  opening: "\\boxed{",
  closing: "}",
  whole: BOX_PATTERN,
};

/** Answers between tags, in a box between them, or in a box alone. */
function answerPattern(tag: ProtocolTag, boxed: Boxed): string {
  if (boxed === "alone") return BOX_PATTERN;
  const [opening, closing] = [escapeRegExp(tag.opening), escapeRegExp(tag.closing)];
  if (!boxed) return `${opening}(.*?)${closing}`;
  return `${opening}(?:(?!${closing}).)*?${BOX_PATTERN}.*?${closing}`;
}

/** A tag's name, for `<name>` and `</name>`, or its two texts, such as R1-Searcher's `<|begin_of_query|>`. */
const tagSchema = z.union([
  tagName,
  z.strictObject({ opening: z.string().min(1), closing: z.string().min(1) }),
]);

/** Options of every grammar of tags. Each that is absent leaves the grammar's own way. */
export const tagOptions = {
  /** How the answer is read. */
  answer: answerRuleSchema.prefault({ pattern: ANSWER }),
  /** Tags around the input of a tool, by the tool's name; the others have their own name as tag. */
  callTags: z.record(tagName, tagSchema).meta({ names: "tool" }).optional(),
  /** Tags around the answer, in the same two forms. */
  answerTag: tagSchema.optional(),
  /** false: a message begins with its action, and has no tags for thoughts. */
  thoughts: z.boolean().optional(),
  /** Tags around results of tools. */
  resultTag: tagSchema.optional(),
  /** More tags that the policy may write around text of its own: AutoRefine's `refine`. A format reward can demand them. */
  blocks: z.array(tagName).optional(),
  /**
   * Answers are written as \boxed{…} between their tags, and read there unless `answer` has a pattern of its own. alone: they have no
   * tags, and as with `intermediateAnswers` a message goes on behind a box, and its last one counts.
   */
  boxed: z.union([z.boolean(), z.literal("alone")]).optional(),
  /** A result stands directly behind its call, in the same line. By default it has lines of its own. */
  spliced: z.boolean().optional(),
  /** A message may answer several times: it goes on behind an answer, and its last answer counts. Those before it state results on the way. */
  intermediateAnswers: z.boolean().optional(),
  /** Reply to a message without a valid action. */
  invalidMessage: z.string().optional(),
};

type Boxed = boolean | "alone";

export type TagOptions = z.output<z.ZodObject<typeof tagOptions>>;

/** What two grammars of tags differ in beside their options. */
export interface TagStyle {
  calls: readonly string[];
  answers: boolean;
  /** Where the options name none. */
  resultTag: z.output<typeof tagSchema>;
  /** A call wins over an answer before it. By default the first of both ends the message. */
  callsFirst: boolean;
  around: readonly [before: string, after: string];
  gap: string;
  missing: (tags: Tags) => string;
  invalidMessage: (tags: Tags) => string;
  instructions: (tags: Tags) => string;
  answerRequest: (tags: Tags) => string;
}

/** The tags of a grammar by their use. */
export interface Tags {
  calls: ReadonlyMap<string, ProtocolTag>;
  result: ProtocolTag;
  answer: ProtocolTag;
}

/** A grammar of tags around each tool's input, the answer and results. A message is cut after its first action. */
export function tagGrammar(options: TagOptions, style: TagStyle): Protocol {
  const { boxed = false, spliced = false, thoughts = true } = options;
  const { intermediateAnswers = boxed === "alone" } = options;
  const tags = tagsOf(options, style);
  const thought = tagPair("think", "thought");
  const calls = [...tags.calls].map(([tool, tag]) => ({ tool, tag, written: between(tag, "g") }));
  const wholeAnswer = boxed === "alone" ? new RegExp(BOX_PATTERN, "gs") : between(tags.answer, "g");
  const answers = style.answers ? [{ tool: "answer", tag: tags.answer, written: wholeAnswer }] : [];
  const actions = [...calls, ...answers];
  const ending = intermediateAnswers ? calls : actions;
  const resumes = calls.some(({ tag }) => isFence(tag));
  const endOf = (text: string, among: typeof actions): number | null => {
    const ends = among.flatMap(({ tag, written }) => {
      if (!isFence(tag)) return firstEnd(text, [tag.closing]) ?? [];
      const [found] = text.matchAll(written);
      return found === undefined ? [] : [found.index + found[0].length];
    });
    return ends.length === 0 ? null : Math.min(...ends);
  };
  const gapAfter = (opening: string, gap: string): string => (opening.endsWith("\n") ? "" : gap);
  const shown = ({ text }: { text: string }): string => {
    const { opening, closing } = tags.result;
    return `${opening}${gapAfter(opening, spliced ? "\n" : style.gap)}${text}${closing}`;
  };
  const [before, after] = spliced ? [" ", ""] : style.around;
  const isChanged = boxed || options.answerTag !== undefined;
  const isOwn = isChanged && options.answer.pattern === ANSWER;
  const pattern = isOwn ? answerPattern(tags.answer, boxed) : options.answer.pattern;
  const answer: AnswerRule = { ...options.answer, pattern };
  return {
    // Behind a call nothing survives the cut; where calls win, one may still follow an answer.
    stopStrings: (style.callsFirst ? calls : ending).map(({ tag }) => tag.closing),
    findCut: (text) =>
      style.callsFirst && !intermediateAnswers
        ? (endOf(text, calls) ?? endOf(text, answers))
        : endOf(text, ending),
    ...(resumes && { resumes }),
    parse(text) {
      const found = actions.flatMap(({ tool, written }) =>
        Array.from(text.matchAll(written), (match) => {
          return { at: match.index, tool, input: (match[1] ?? "").trim() };
        }),
      );
      const inOrder = found.toSorted((a, b) => a.at - b.at);
      // Behind a call nothing is read; before it there may be answers.
      const action = intermediateAnswers
        ? (inOrder.find(({ tool }) => tool !== "answer") ?? inOrder.at(-1))
        : inOrder[0];
      if (action === undefined)
        return { actions: [], problems: [{ code: "no-action", message: style.missing(tags) }] };
      return { actions: [{ tool: action.tool, input: action.input }], problems: [] };
    },
    tags: [
      ...(thoughts ? [thought] : []),
      ...(options.blocks ?? []).map((name) => tagPair(name, "block")),
      ...calls.map(({ tag }) => tag),
      tags.result,
      ...answers.map(({ tag }) => tag),
    ],
    write: ({ thought: said, blocks = {}, action: { tool, input } }) => {
      const { opening, closing } =
        actions.find((each) => each.tool === tool)?.tag ?? tagPair(tool, "call");
      const written = tool === "answer" && boxed === true ? `\\boxed{ ${input}}` : input;
      const before = (options.blocks ?? [])
        .filter((name) => blocks[name] !== undefined)
        .map((name) => `<${name}> ${blocks[name] ?? ""}</${name}>`);
      const thinks = said === "" || !thoughts ? "" : `<think> ${said}</think>`;
      return `${thinks}${before.join("")}${opening}${gapAfter(opening, " ")}${written}${closing}`;
    },
    renderObservations: (observations: readonly Observation[]) =>
      `${before}${observations.map(shown).join("\n")}${after}`,
    renderProblems: () => options.invalidMessage ?? style.invalidMessage(tags),
    renderContext: (observation) => `${shown(observation)}\n`,
    instructions: () => style.instructions(tags),
    answerOpening: tags.answer.opening,
    answerRequest: style.answerRequest(tags),
    answer,
  };
}

function tagsOf(
  { callTags = {}, resultTag, answerTag, boxed }: TagOptions,
  style: Pick<TagStyle, "calls" | "resultTag">,
): Tags {
  const named = (given: z.output<typeof tagSchema>, holds: ProtocolTag["holds"]): ProtocolTag =>
    typeof given === "string" ? tagPair(given, holds) : { ...given, name: given.opening, holds };
  return {
    calls: new Map(style.calls.map((tool) => [tool, named(callTags[tool] ?? tool, "call")])),
    result: named(resultTag ?? style.resultTag, "observation"),
    answer: boxed === "alone" ? BOX : named(answerTag ?? "answer", "answer"),
  };
}
