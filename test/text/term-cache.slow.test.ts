import { Encoder } from "flexsearch";
import { describe, expect, it } from "vitest";
import { type Random, random } from "../../src/base/random.ts";
import { analyzers } from "../../src/text/analyzer.ts";
import { TermCache } from "../../src/text/term-cache.ts";
import { searchTexts, sharedData } from "../helpers/search-texts.ts";
import { porterStem } from "../../src/text/porter.ts";

/** What `english` and `plain` were before terms were remembered: version 1 must give these terms for ever. */
function versionOne(stopWords: readonly string[], stem: (word: string) => string): Encoder {
  const stops = new Set(stopWords);
  return new Encoder({
    normalize: true,
    split: /([^\p{L}\p{N}]+)/u,
    numeric: false,
    dedupe: false,
    cache: false,
    maxlength: Number.MAX_SAFE_INTEGER,
    filter: (word) => word.length <= 255 && /^[\p{L}\p{N}]/u.test(word) && !stops.has(word),
    finalize: (words) => words.map(stem),
  });
}

const ENGLISH_STOP_WORDS =
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with";
const references: Record<string, Encoder> = {
  english: versionOne(ENGLISH_STOP_WORDS.split(" "), porterStem),
  plain: versionOne([], (word) => word),
};

/** Each analyzer beside the slow way to its terms. */
const pairs = analyzers.parts.map((analyzer) => {
  const reference = references[analyzer.name];
  return {
    name: analyzer.name,
    analyze: (text: string) => analyzer.analyze(text),
    expected: (text: string) => reference?.encode(text) ?? analyzer.encode(text),
  };
});

const ADVERSARIAL = [
  "",
  "a",
  "The Beatles' new songs, Duran Duran; DURAN duran",
  "naïve nai\u0308ve cafe\u0301 CAFE\u0301s 'e\u0301' .\u0301a =\u0338 =\u0338les <\u0338\u0301x",
  "½ cup, 3½ cups, x² + y², H₂O, ①② ⅷ ﬁsh aﬄuent ﷺ ㎏ ℻ ™ №5",
  "İstanbul ISTANBUL I\u0307zmir ıspanak DİYARBAKIR Iğdır I İ ı i",
  "ΟΔΟΣ ΟΔΟΣ' ΑΣ'Α ΑΣ.Α ΑΣ:Α ΑΣ^Α ΑΣ`Α ΑΣ\u00adΑ AΣ 'Σ ΣΑ foo.bar'ΣΑΣ",
  "\u03f9 A\u03f9 A\u03f9'A \u{1d6ba}\u{1d6ba} A\u{1d72e}'A",
  "東京大学は東京都文京区に本部を置く。ガギグゲゴ カ\u3099 ﾊﾟﾋﾟ 한국어 텍스트 \u1112\u1161\u11ab",
  "𠀀𠀁𠀂 𝒜𝓃𝓃 👩‍👩‍👧‍👦 family👍🏽ok 🇩🇪de",
  "\ud800 a\ud800b \udc00x x\ud83d \ud83d\ud83d\ude00",
  "zero\u200bwidth join\u200der non\u200cjoin soft\u00adhyphen bom\ufeffbom \u2060x",
  "“quoted”—dash–dash… l’été l'été d'Arc rock'n'roll O'Neill’s",
  "snake_case kebab-case a.b.c 1,000.5 1990–1995 3:2 C++ C# e-mail x@y.z",
  "مُحَمَّد الكِتَابُ العربية ـــ ١٢٣ 中文12abcАБВ ёлка Ёж йод и\u0306од",
  `${"a".repeat(63)} ${"b".repeat(64)} ${"c".repeat(65)} ${"d".repeat(255)} ${"e".repeat(256)}`,
  `${"é".repeat(31)} ${"é".repeat(32)} ${"é".repeat(33)} ${"é".repeat(255)} ${"é".repeat(256)}`,
  `${"a".repeat(253)}ies ${"東".repeat(300)} ${"ﷺ".repeat(20)}`,
  "\0a\0b\0 \x7f x\u0080y\u0085z\u00a0w\u2028v",
  "ß ẞ STRASSE straße œuvre ŒUVRE æ Ø Ł đ þ ŉ ǆ Ǆ ǅ ſ ﬅ",
];

const PIECES = [
  ...Array.from("abcXYZ019 \t\n.'’:-_^`=<>/"),
  ...Array.from("éÉñüÅøßıİσςΣΑлЙёЁعُ東京かカ゛한ｶﾞ½²ﬁ№…—“¨´"),
  ...["\u0301", "\u0308", "\u0323", "\u0338", "\u3099", "\u200b", "\u200d", "\u00ad", "\ufeff"],
  ...["😀", "𠀀", "𝒜", "\ud83d", "\ude00", "the ", "running ", " la ", " und ", "l'", "ies ", "İI"],
];

function randomText(generator: Random, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) text += PIECES[generator.int(PIECES.length)]!;
  return text;
}

describe.each(pairs)("remembered terms of $name", ({ analyze, expected }) => {
  it("equal the encoder's for texts made to break them, twice over", () => {
    for (const text of [...ADVERSARIAL, ADVERSARIAL.join(" "), ...ADVERSARIAL]) {
      expect(analyze(text), JSON.stringify(text)).toEqual(expected(text));
    }
  });

  it("equal the encoder's for seeded random mixtures of scripts, marks and signs", () => {
    const generator = random("remembered terms");
    for (let i = 0; i < 1000; i++) {
      const text = randomText(generator, 1 + generator.int(40));
      expect(analyze(text), JSON.stringify(text)).toEqual(expected(text));
    }
  });
});

describe("remembered terms", () => {
  it.each(["english", "turkish"])(
    "of %s equal the encoder's for every character, alone and between ASCII letters and signs",
    (name) => {
      const { analyze, expected } = pairs.find((pair) => pair.name === name)!;
      for (let first = 0; first < 0x20000; first += 64) {
        const characters = Array.from({ length: 64 }, (_, i) => String.fromCodePoint(first + i));
        const text = characters.map((c) => `A'${c}'A a${c}b.${c}=${c}\u0301s`).join(" ");
        const terms = analyze(text);
        if (terms.join("\n") !== expected(text).join("\n")) {
          expect(terms, `U+${first.toString(16)}`).toEqual(expected(text));
        }
      }
    },
    60_000,
  );

  it("are forgotten and learnt anew when there are too many, and stay the same", () => {
    const asked: string[] = [];
    const split = (text: string): string[] => {
      asked.push(text);
      return text
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter((word) => word !== "");
    };
    const cache = new TermCache({ encode: split, encodeWord: split }, 64);
    const text = Array.from({ length: 100 }, (_, i) => `Word${i} tête${i}-à-tête${i}`).join(" ");
    for (let round = 0; round < 3; round++) expect(cache.analyze(text)).toEqual(split(text));
    expect(asked.filter((unit) => unit === "Word0")).toHaveLength(3);
  });

  it("are learnt once per distinct word", () => {
    const asked: string[] = [];
    const encode = (text: string): string[] => {
      asked.push(text);
      return [text];
    };
    const cache = new TermCache({ encode, encodeWord: encode });
    cache.analyze("one été one, été; one(été)");
    expect(asked).toEqual(["one", "été"]);
  });
});

describe.skipIf(sharedData === null)(
  `remembered terms of real text${sharedData === null ? " (skipped: ../shared/data is not here)" : ""}`,
  () => {
    it.each(["english", "french"])(
      "of %s equal the encoder's",
      async (name) => {
        const { analyze, expected } = pairs.find((pair) => pair.name === name)!;
        let texts = 0;
        for await (const text of searchTexts(1000)) {
          texts += 1;
          const terms = analyze(text);
          if (terms.join("\n") !== expected(text).join("\n")) expect(terms).toEqual(expected(text));
        }
        expect(texts).toBe(3000);
      },
      60_000,
    );
  },
);
