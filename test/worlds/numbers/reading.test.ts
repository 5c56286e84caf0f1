import { describe, expect, it } from "vitest";
import { readExpression } from "../../../src/worlds/numbers/read-expression.ts";
import { readProblem } from "../../../src/worlds/numbers/reading.ts";

const ADA = "Fala Rosholt";
const BEN = "Davin Lunmak";
const COR = "Neva Pelholt";

/** Computed by hand. */
const BY_HAND: readonly (readonly [kind: string, answer: number, text: string])[] = [
  ["expression", 43, "What is ( 12 + 5 ) * 3 - 8?"],
  ["expression", 24, "Find the value of 4 + max ( 20 , 2 , 15 )."],
  ["expression", 3, "Compute 47 % 9 % 4 + 36 / 6 / 2 - 1 * 1 - 1 * 1."],
  [
    "stock",
    31,
    `${ADA} has 12 cups. She buys 5 boxes of 4. She loses 1. How many cups does she have now?`,
  ],
  [
    "stock",
    9,
    `${BEN} owns 6 ropes. Now he has 3 times as many. He makes 2 equal heaps and keeps one heap. How many ropes does he have in the end?`,
  ],
  [
    "stock",
    2,
    `${ADA} has 20 nails. ${BEN} gives her 10 more. She packs them in boxes of 7. How many nails are left over?`,
  ],
  [
    "stock",
    33,
    `${ADA} has 20 nails. She sells 3 boxes of 1. How many more nails does she need to have 50?`,
  ],
  ["shop", 28, `A lamp costs 7 coins. ${ADA} buys 4 lamps. How many coins does she pay?`],
  [
    "shop",
    8,
    `A lamp costs 7 coins. The price of a cup is 2 coins. ${ADA} buys 4 lamps and 5 cups. There is a discount of 6 coins. She pays with 40 coins. How many coins does she get back?`,
  ],
  [
    "shop",
    7.5,
    `A lamp costs 10 coins. A cup costs 4 coins. A rope costs 1 coins. ${ADA} buys 2 lamps, 2 cups and 2 ropes. 4 friends share the price. How many coins does each of them pay?`,
  ],
  [
    "rate",
    222,
    "A machine makes 8 cups an hour. It works 5 hours a day. Each day 3 of them break. How many cups are there after 6 days?",
  ],
  [
    "rate",
    40,
    "In one hour a machine makes 6 bells. Each day it runs for 5 hours. There are 4 such machines. How many boxes of 9 do the bells of 3 days fill?",
  ],
  [
    "travel",
    170,
    `${BEN} travels 2 hours at 25 miles an hour. Then he travels 3 hours at 40 miles an hour. How many miles does he travel?`,
  ],
  [
    "travel",
    3,
    `${BEN} travels 2 hours at 25 miles an hour. The whole way is 80 miles long. How many hours does the rest take at 10 miles an hour?`,
  ],
  [
    "travel",
    30,
    `${BEN} travels 2 hours at 25 miles an hour. The whole way is 80 miles long. How many miles are left?`,
  ],
  [
    "years",
    1941,
    `${ADA} was born in 1923. ${BEN} was born 30 years after ${ADA}. ${COR} is 12 years older than ${BEN}. In which year was ${COR} born?`,
  ],
  [
    "years",
    7,
    `${ADA} was born in 1923. ${ADA} is 20 years older than ${BEN}. How old was ${BEN} in 1950?`,
  ],
  [
    "years",
    25,
    `${ADA} was born in 1923. ${BEN} was born 30 years before ${ADA}. ${COR} was born 5 years after ${BEN}. How many years older is ${COR} than ${ADA}?`,
  ],
  [
    "comparison",
    36,
    `${ADA} owns 9 cards. ${BEN} has 4 times as many as ${ADA}. ${COR} has 22 more than ${ADA}. How many cards does the one with the most have?`,
  ],
  [
    "comparison",
    27,
    `${ADA} owns 9 cards. ${BEN} has 4 times as many as ${ADA}. How many more cards does the one with the most have than the one with the fewest?`,
  ],
  [
    "comparison",
    14,
    `${ADA} has 9 stamps. ${BEN} has 6 fewer than ${ADA}. ${COR} has 1 fewer than ${BEN}. How many stamps do they have together?`,
  ],
  [
    "comparison",
    11.5,
    `${ADA} has 9 stamps. ${BEN} has 5 more than ${ADA}. How many stamps does each get if they share equally?`,
  ],
];

describe("readProblem", () => {
  it.each(BY_HAND)("reads %s: %s", (kind, answer, text) => {
    expect(readProblem(text)).toMatchObject({ kind, answer });
  });

  it("gives NaN where a number is not told", () => {
    const text = `${ADA} has some cups. She buys 5 more. How many cups does she have now?`;
    expect(readProblem(text)).toMatchObject({ kind: "stock", answer: NaN });
    expect(readProblem("What is 12 + x * 3?")).toMatchObject({ answer: NaN });
  });

  it.each([
    ["cannot be read", `${ADA} eats 5 cups.`],
    ["nothing is asked", `${ADA} has 5 cups.`],
    ["follows the question", `What is 2 + 3? ${ADA} has 5 cups.`],
    ["nothing is told of", `${BEN} has 5 more than ${ADA}. How many cups do they have together?`],
    [
      "a price is missing",
      `A lamp costs 7 coins. ${ADA} buys 4 cups. How many coins does she pay?`,
    ],
    ["must be told before", `${ADA} was born 3 years after ${BEN}. In which year was ${ADA} born?`],
  ])("%s", (message, text) => {
    expect(readProblem(text)).toContain(message);
  });
});

describe("readExpression", () => {
  it("refuses what is no expression", () => {
    for (const text of ["", "2 +", "( 2 + 3", "2 3", "max 2", "max ( 2", "y + 1"]) {
      expect(readExpression(text), text).toBeNull();
    }
  });
});
