/** Digits of three columns and six half rows, as bits from left to right, from the top down. */
const DIGITS: Readonly<Record<string, string>> = {
  "0": "111101101101101111",
  "1": "010110010010010111",
  "2": "111001001111100111",
  "3": "111001111001001111",
  "4": "101101101111001001",
  "5": "111100111001001111",
  "6": "111100111101101111",
  "7": "111001001010010010",
  "8": "111101111101101111",
  "9": "111101111001001111",
};
const HALVES = [" ", "▄", "▀", "█"];

/** A number in letters of three rows. @example bigText("0.5")[0] // "█▀█   █▀▀" */
export function bigText(text: string): string[] {
  return [0, 1, 2].map((row) =>
    Array.from(text)
      .map((character) => {
        const bits = DIGITS[character];
        if (bits === undefined) return row === 2 ? "▄" : " ";
        return [0, 1, 2]
          .map((x) => HALVES[2 * Number(bits[6 * row + x]) + Number(bits[6 * row + 3 + x])] ?? "")
          .join("");
      })
      .join(" "),
  );
}
