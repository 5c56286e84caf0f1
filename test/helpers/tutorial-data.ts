import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskedChat, chatServer } from "./chat-server.ts";
import type { LocalServer } from "./local-server.ts";

const FIRST = [
  "Big Stone",
  "Long River",
  "Silent",
  "Northern",
  "Glass",
  "Paper",
  "Winter",
  "Copper",
];
const SECOND = ["Gap", "Harbor", "Road", "Orchard", "Signal", "Letters", "Bridge", "Garden"];
const PEOPLE = ["Adriana Trigiani", "Ruth Calder", "Tomas Brandt", "Lena Moss", "Ivo Kessler"];

/** Writes the questions and passages of the tutorial's last section: `fragen.csv` and `texts/`. */
export function writeTutorialData(folder: string): void {
  mkdirSync(join(folder, "texts"));
  const write = (title: string, ...lines: string[]): void => {
    writeFileSync(join(folder, "texts", `${title}.txt`), `${lines.join("\n\n")}\n`);
  };
  write("Kiss and Tell", "Shirley Temple portrayed Corliss Archer in the film Kiss and Tell.");
  write("Shirley Temple", "Shirley Temple was an actress, and Chief of Protocol later.");
  const rows = [
    '"What government position was held by the woman who portrayed Corliss Archer in the film Kiss and Tell?",Chief of Protocol',
  ];
  FIRST.flatMap((first) => SECOND.map((second) => `${first} ${second}`)).forEach((film, i) => {
    const person = PEOPLE[i % PEOPLE.length]!;
    write(film, `${film} is a film directed by ${person}.`, `It was shot in ${1950 + i}.`);
    rows.push(`Who directed ${film}?,${person}`, `When was ${film} shot?,${1950 + i}`);
  });
  const lines = ["nr,frage,gold", ...rows.map((row, i) => `${i + 1},${row}`)];
  writeFileSync(join(folder, "fragen.csv"), `${lines.join("\n")}\n`);
}

/** A chat server that searches for what the question names, then answers from what was found. */
export function tutorialServer(): Promise<LocalServer> {
  return chatServer((asked) => message(asked));
}

function message({ messages }: AskedChat): string {
  const read = messages.map(({ content }) => content ?? "").join("\n");
  const question = /^Question: (.*)$/m.exec(read)?.[1] ?? "";
  const film = /(?:directed|was|film) ([A-Z][\w ]+?)(?: shot)?\?$/.exec(question)?.[1] ?? question;
  const isFound = read.includes("Doc 1(Title:");
  if (question.startsWith("What government")) {
    if (/was an actress, and Chief/.test(read)) return answer("Chief of Protocol");
    return isFound ? search("Shirley Temple") : search(film);
  }
  if (!isFound) return search(film);
  const facts = new RegExp(`${film} is a film directed by ([\\w ]+)\\.\\s+It was shot in (\\d+)`);
  const [, person = "unknown", year = "unknown"] = facts.exec(read) ?? [];
  return answer(question.startsWith("Who") ? person : year);
}

const search = (query: string): string => `<think>I look it up.</think><search>${query}</search>`;
const answer = (text: string): string => `<think>Found it.</think><answer>${text}</answer>`;
