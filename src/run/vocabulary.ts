import { worlds } from "../worlds/index.ts";

/** Tags of the published grammars, each a token of its own: `<search>` and `</search>`. */
const TAG_NAMES = [
  ...["answer", "think", "search", "information", "documents", "query", "result", "observation"],
  ...[
    "tool",
    "tool_call",
    "tool_response",
    "calculator",
    "code",
    "python",
    "interpreter",
    "output",
  ],
  ...["refine", "plan", "evidence", "original_evidence", "important_info", "search_complete"],
  ...["reasoning", "analysis", "relevance", "warning", "browse", "lookup", "click", "finish"],
  ...["action", "thought", "reflection", "summary", "subquery", "subanswer", "verify", "state"],
];

/** Marks that some grammars write in place of tags. */
const MARKS = [
  ...["<|begin_of_query|>", "<|end_of_query|>", "<|begin_of_documents|>", "<|end_of_documents|>"],
  ...["<|begin_search_query|>", "<|end_search_query|>", "<|begin_search_result|>"],
  ...["<|end_search_result|>", "<|begin_click_link|>", "<|end_click_link|>"],
  ...["<|begin_click_result|>", "<|end_click_result|>", "[Search]", "[Answer]", "<API>", "</API>"],
];

/** Signs with a space before them: of prompts, arithmetic, code and grids. Alone, each is a byte. */
const SIGNS = "( ) [ ] { } : ; , . ? ! + - * / % = < > # | _ × ÷ − → $".split(" ");

const PAIRS = ["==", "<=", ">=", "//", "**", "```", "\\boxed{"];

/** Words of prompts, thoughts, judgements, code and games; the worlds bring their own. */
const WORDS = `
  Question Doc Title Passage Passages Answer Query Search Plan Step Thought Action Observation Finish Final Hint Wait
  I It If Is So No Not The This That What Which Who When Where How Why Yes Let Now First Then But And Or In On Use Read
  a an and are as at be but by can do does each for from get has have if in is it let me more must my need needs new next no not now of on only
  or other same so some than that the their them then there these they this to two use was we what which will with without you your
  about above after again all already also always another any before below best better both case check correct wrong last least less most much
  never none nothing once one part ready right since sure still such there three too under until well yes
  ask asked answer answers answered document documents find finds found give given gives know known look main passage passages plan page pages
  name names query question questions read reads reason relevant result results search searched searches seen show shows shown say says source
  step steps sub support supported supports text thing think thought title tool true false unknown uncertain useful noisy word words write
  compute count difference digits double equal add sum minus times divide product total half left rest remainder make number numbers even odd largest smallest value values
  up down goal hole start ice wall box target player move push pull buy click back item price option size color price cart
  liar knight knave truth lie guess higher lower higher close reward score judge
`;

/** Words of long and of unreliable passages, and of names that need more words. */
const PROSE = `
  also called named nickname formerly alias former elder younger older
  source sources register table archive gazette almanac record records report reports rumour doubtful reliable unreliable according claims claimed
  visitors travellers guests neighbours friends family people children crowd many few most often seldom sometimes always
  praise praised admire admired love loved visit visited met wrote letters letter remember remembered mention mentioned
  market river bridge hill road garden school library museum harbour forest mill tower gate square street
  quiet busy old famous small large narrow wide warm cold winter summer spring autumn weather north south east west
  near beside between behind across along around during every year years ago later earlier today tomorrow
  music song songs story stories paintings bread fish wool glass salt stone wood iron trade traded sold bought both neither meets met
`;

/**
 * What every tokenizer of a fresh policy knows, besides an environment's own tags and words. All small policies of the package share it, so that one
 * checkpoint can be fine-tuned for any protocol and world; a change of it changes every such policy and every figure measured with one.
 */
export function sharedVocabulary(): { specials: string[]; words: string[] } {
  const digits = Array.from({ length: 10 }, (_, digit) => ` ${digit}`);
  const prose = [WORDS, PROSE].flatMap((words) => words.trim().split(/\s+/));
  return {
    specials: [...TAG_NAMES.flatMap((name) => [`<${name}>`, `</${name}>`]), ...MARKS],
    words: [
      ...new Set([
        // A sentence begins without a space at the start of a text or a line.
        ...["Question", "Doc", "Title", ...PAIRS],
        ...[...SIGNS, ...PAIRS].map((sign) => ` ${sign}`),
        ...digits,
        ...prose.map((word) => ` ${word}`),
        ...worlds.parts.flatMap(({ vocabulary }) => vocabulary?.() ?? []),
      ]),
    ],
  };
}
