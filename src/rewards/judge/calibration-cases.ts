import type { JudgeCase } from "./judge-prompt.ts";

/** What makes a calibration case difficult. */
export type CalibrationKind =
  | "same"
  | "alias"
  | "format"
  | "date"
  | "number"
  | "sentence"
  | "detail"
  | "yes-no"
  | "other-entity"
  | "near-miss"
  | "vague"
  | "hedge"
  | "refusal"
  | "beside"
  | "partial"
  | "retracted";

/** A case with a known verdict. */
export interface CalibrationCase extends JudgeCase {
  /** Question and answer by number: `3.2`. */
  id: string;
  kind: CalibrationKind;
  correct: boolean;
}

interface Item {
  question: string;
  references: readonly string[];
  right: readonly (readonly [CalibrationKind, string])[];
  wrong: readonly (readonly [CalibrationKind, string])[];
}

/** Questions with clearly right and clearly wrong answers, also for a judge that sees only the accepted answers. */
const ITEMS: readonly Item[] = [
  {
    question: "Who wrote the novel Frankenstein?",
    references: ["Mary Shelley"],
    right: [
      ["alias", "Mary Wollstonecraft Shelley"],
      ["format", "shelley, mary"],
      ["sentence", "The novel was written by Mary Shelley, who began it in 1816."],
    ],
    wrong: [
      ["near-miss", "Percy Bysshe Shelley"],
      ["vague", "A famous English writer of the Romantic period"],
    ],
  },
  {
    question: "On what date did people first land on the Moon?",
    references: ["20 July 1969"],
    right: [
      ["date", "July 20th, 1969"],
      ["date", "1969-07-20"],
    ],
    wrong: [
      ["near-miss", "16 July 1969"],
      ["vague", "Some time in the twentieth century"],
      ["partial", "In July"],
    ],
  },
  {
    question: "What is the capital of Australia?",
    references: ["Canberra"],
    right: [
      ["same", "Canberra"],
      ["detail", "Canberra, in the Australian Capital Territory"],
    ],
    wrong: [
      ["other-entity", "Sydney"],
      ["hedge", "Sydney, Melbourne or Canberra"],
      ["beside", "Australia is a federation of six states."],
    ],
  },
  {
    question: "How many planets orbit the Sun?",
    references: ["8", "eight"],
    right: [
      ["number", "Eight planets"],
      ["sentence", "There are 8 of them."],
    ],
    wrong: [
      ["near-miss", "9"],
      ["vague", "Several"],
      ["refusal", "I cannot answer this question."],
    ],
  },
  {
    question: "Were Marie Curie and Albert Einstein both awarded a Nobel Prize?",
    references: ["yes"],
    right: [
      ["yes-no", "Both of them were."],
      ["same", "Yes."],
    ],
    wrong: [
      ["other-entity", "No"],
      ["yes-no", "Only Marie Curie was."],
      ["yes-no", "Both were physicists."],
    ],
  },
  {
    question: "Which element has the chemical symbol Au?",
    references: ["gold"],
    right: [
      ["format", "GOLD."],
      ["detail", "Gold (atomic number 79)"],
    ],
    wrong: [
      ["other-entity", "Silver"],
      ["vague", "A precious metal"],
    ],
  },
  {
    question: "How high is Mount Everest, in metres?",
    references: ["8,849 m", "8848 m"],
    right: [
      ["number", "8849 metres"],
      ["number", "8.849 km"],
    ],
    wrong: [
      ["near-miss", "8,611 m"],
      ["vague", "Very high, more than a thousand metres"],
    ],
  },
  {
    question: "In which city does the river Rhône leave its lake?",
    references: ["Geneva"],
    right: [
      ["alias", "Genève"],
      ["detail", "Geneva, Switzerland"],
    ],
    wrong: [
      ["near-miss", "Lausanne"],
      ["vague", "In Europe"],
    ],
  },
  {
    question: "Who was the first president of the United States?",
    references: ["George Washington", "Washington"],
    right: [
      ["alias", "President Washington"],
      ["sentence", "It was George Washington, in office from 1789 to 1797."],
    ],
    wrong: [
      ["other-entity", "John Adams"],
      ["retracted", "George Washington. No, that is wrong: it was Thomas Jefferson."],
      ["refusal", "I don't know."],
    ],
  },
  {
    question: "What percentage is one quarter?",
    references: ["25 %"],
    right: [
      ["number", "twenty-five per cent"],
      ["number", "25 percent"],
    ],
    wrong: [
      ["near-miss", "2.5 %"],
      ["hedge", "It may be 20, 25 or 30 %."],
    ],
  },
  {
    question: "Which two gases make up most of the Earth's atmosphere?",
    references: ["nitrogen and oxygen"],
    right: [
      ["format", "Oxygen and nitrogen"],
      ["alias", "N2 and O2"],
    ],
    wrong: [
      ["partial", "Nitrogen"],
      ["other-entity", "Nitrogen and carbon dioxide"],
    ],
  },
  {
    question: "Who painted the ceiling of the Sistine Chapel?",
    references: ["Michelangelo", "Michelangelo Buonarroti"],
    right: [
      ["alias", "Michelangelo di Lodovico Buonarroti Simoni"],
      ["sentence", "Michelangelo painted it."],
    ],
    wrong: [
      ["other-entity", "Raphael"],
      ["hedge", "Either Michelangelo or Raphael"],
    ],
  },
  {
    question: "In which year did the Berlin Wall fall?",
    references: ["1989"],
    right: [
      ["date", "It fell in November 1989."],
      ["same", "1989"],
    ],
    wrong: [
      ["near-miss", "1990"],
      ["vague", "Towards the end of the Cold War"],
      ["beside", "It was built in 1961."],
    ],
  },
  {
    question: "Which country's parliament is called the Knesset?",
    references: ["Israel"],
    right: [
      ["alias", "The State of Israel"],
      ["same", "Israel"],
    ],
    wrong: [
      ["near-miss", "Jordan"],
      ["vague", "A country in the Middle East"],
    ],
  },
  {
    question: "What is the largest ocean on Earth?",
    references: ["Pacific Ocean"],
    right: [
      ["alias", "the Pacific"],
      ["format", "PACIFIC OCEAN"],
    ],
    wrong: [
      ["other-entity", "The Atlantic Ocean"],
      ["beside", "Oceans cover about 71 % of the Earth."],
    ],
  },
  {
    question:
      "Which American singer recorded Blue Suede Shoes in January 1956 and was called the King?",
    references: ["Elvis Presley"],
    right: [
      ["alias", "Elvis"],
      ["format", "presley, elvis aaron"],
    ],
    wrong: [
      ["near-miss", "Lisa Marie Presley"],
      ["retracted", "Not Elvis Presley but Carl Perkins"],
    ],
  },
  {
    question: "How long is a marathon, in kilometres?",
    references: ["42.195"],
    right: [
      ["number", "42.195 km"],
      ["number", "42,195 metres"],
    ],
    wrong: [
      ["near-miss", "24.195 km"],
      ["refusal", "More information would be needed to say."],
    ],
  },
];

/** Known right and wrong answers; the texts are ours. @example CALIBRATION_CASES[0].id // "1.1" */
export const CALIBRATION_CASES: readonly CalibrationCase[] = ITEMS.flatMap(
  ({ question, references, right, wrong }, i) => {
    const answers = [
      ...right.map(([kind, prediction]) => ({ kind, prediction, correct: true })),
      ...wrong.map(([kind, prediction]) => ({ kind, prediction, correct: false })),
    ];
    return answers.map((answer, k) => ({
      id: `${i + 1}.${k + 1}`,
      question,
      references,
      ...answer,
    }));
  },
);
