/**
 * Text that cannot act on a terminal or hide from its reader: control, bidirectional and invisible characters, and line separators become
 * JSON escapes, colours too. Joiners and variation selectors stay where the writing needs them: emoji, Arabic, Indic scripts, Han.
 * @example visibleText("a\u001b[2Jb\u202ec") // "a\\u001b[2Jb\\u202ec"
 */
export function visibleText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSEEN, escaped);
}

/** As `visibleText`, for a text that must stay in its line or cell: line ends and tabs are shown as well. */
export function visibleLine(text: string): string {
  return visibleText(text.replace(/[\n\r\t]/g, (end) => JSON.stringify(end).slice(1, -1)));
}

const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/** Emoji, and the scripts whose letters joiners shape. */
const SHAPED =
  "\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F" +
  ["Arab", "Syrc", "Nkoo", "Mong", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu"]
    .concat(["Knda", "Mlym", "Sinh", "Khmr", "Mymr", "Tibt", "Thaa"])
    .map((script) => `\\p{Script_Extensions=${script}}`)
    .join("");
/** Characters with variants. */
const VARIED = "\\p{Emoji}\\p{Sm}\\p{Script=Han}\\p{Script=Mong}\\p{Script=Mymr}\\p{Script=Phag}";

/** Default_Ignorable_Code_Point: what Unicode tells renderers to leave invisible, bidirectional controls among it. */
const UNSEEN = new RegExp(
  [
    "(?!\\r?\\n|\\t)\\p{Cc}",
    "[\\u2028\\u2029\\uFFF9-\\uFFFB]",
    `(?!(?<=[${SHAPED}])[\\u200C\\u200D](?=[${SHAPED}]))` +
      `(?!(?<=[${VARIED}])[\\uFE00-\\uFE0F\\u{E0100}-\\u{E01EF}])` +
      "\\p{Default_Ignorable_Code_Point}",
  ].join("|"),
  "gu",
);

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    return `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }).join("");
}
