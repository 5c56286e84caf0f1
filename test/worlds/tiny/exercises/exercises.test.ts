import { describe, expect, it } from "vitest";
import { noneRetriever } from "../../../../src/retrieval/controls/none.ts";
import { openStrategy } from "../../../../src/rollout/strategies/named-strategy.ts";
import { sharedVocabulary } from "../../../../src/run/vocabulary.ts";
import { reference } from "../../../../src/synth/teachers/index.ts";
import { exactMatch } from "../../../../src/text/answers.ts";
import { makeTokenizer } from "../../../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../../../src/text/word-tokenizer.ts";
import { attacks } from "../../../../src/rewards/judge/attacks.ts";
import { ROLE_REPLY } from "../../../../src/trajectory/role-prompts.ts";
import type { Task } from "../../../../src/trajectory/task.ts";
import { environments } from "../../../../src/worlds/datasets.ts";
import { openDataset } from "../../../../src/worlds/open-dataset.ts";
import { spellings } from "../../../../src/worlds/numbers/quantities.ts";
import "../../../helpers/all-parts.ts";
import { scriptedTeacher } from "../../../helpers/scripted-teacher.ts";
import { rolloutOptions } from "../../../helpers/search-world.ts";

const open = (name: string, options: Record<string, unknown> = {}) =>
  openDataset({ name, split: "base", people: 60, questions: 300, ...options }, "test");
const tasksOf = async (name: string, options?: Record<string, unknown>): Promise<Task[]> =>
  (await open(name, options)).tasks();

const NAMES = ["reader", "simulator", "judge", "entailment"].map((role) => `${role}-exercises`);

const shared = sharedVocabulary();
const files = wordTokenizer({
  specials: ["<|end|>", "<|pad|>", ...shared.specials],
  words: shared.words,
});
const tokenizer = makeTokenizer(files.tokenizer, files.config, "test");
/** Words that a policy reads byte by byte. */
const unknownWords = (text: string): string[] =>
  (text.replaceAll(/<\/?\w+>/g, "\n").match(/ ?\p{L}+/gu) ?? []).filter(
    (word) => tokenizer.encode(word).length > 1,
  );

function only<T>(item: T | undefined): T {
  if (item === undefined) throw new Error("nothing drawn");
  return item;
}

const passagesOf = (text: string): string[] =>
  text
    .replaceAll(/<\/?information>/g, "")
    .split("\n")
    .filter((line) => line.startsWith("Doc "));

describe.each(NAMES)("dataset %s", (name) => {
  it("uses words of the shared vocabulary alone", async () => {
    for (const { question, references } of await tasksOf(name)) {
      const text = `${question}${ROLE_REPLY.opening} ${references[0] ?? ""}${ROLE_REPLY.closing}`;
      expect(unknownWords(text)).toEqual([]);
    }
  });

  it("is read by a policy that answers directly just as a role's caller asks", async () => {
    const environment = environments
      .get("tool-qa", "test")
      .create({ prompt: "{question}" }, { retriever: noneRetriever() });
    const task = only((await tasksOf(name, { questions: 1 }))[0]);
    const options = rolloutOptions({
      policy: scriptedTeacher(reference, environment),
      environment,
      task,
    });
    const { calls, answer } = await openStrategy("direct", "test").run(options);
    const { prompt, completion } = only(calls[0]);
    const read = [...prompt, ...completion.filter(({ owner }) => owner === "inserted")];
    expect(read.map(({ text }) => text).join("")).toBe(`${task.question}${ROLE_REPLY.opening}`);
    expect(answer).toBe(task.references[0]);
  });

  it("gives the same exercises again, other ones by seed, and none of another split", async () => {
    const questions = async (options: object): Promise<string[]> =>
      (await tasksOf(name, { ...options, questions: 120 })).map(({ question }) => question);
    const base = await questions({});
    expect(await questions({})).toEqual(base);
    const others = [...(await questions({ seed: 8 })), ...(await questions({ split: "test" }))];
    // The judge reads numbers without their problem, and two problems can have the same.
    const byChance = name === "judge-exercises" ? 12 : 0;
    expect(others.filter((question) => base.includes(question)).length).toBeLessThanOrEqual(
      byChance,
    );
    expect(new Set(base).size).toBeGreaterThan(115 - byChance);
  });
});

describe("dataset reader-exercises", () => {
  it("shows the answer, and says unknown in its share where a passage is missing", async () => {
    const mix = { comparison: 0, yesNo: 0 };
    const tasks = await tasksOf("reader-exercises", { mix, shown: [2, 4], absent: 0.3 });
    for (const { question, references, annotations } of tasks) {
      const passages = passagesOf(question);
      expect(passages.length).toBeLessThanOrEqual(4);
      if (annotations.type === "unknown") expect(references).toEqual(["unknown"]);
      else expect(passages.join("\n")).toContain(references[0]);
    }
    const unknown = tasks.filter(({ annotations }) => annotations.type === "unknown");
    expect(unknown.length / tasks.length).toBeCloseTo(0.3, 1);
  });
});

describe("dataset simulator-exercises", () => {
  it("states the answer in useful passages for the last step, and in no noisy one", async () => {
    const types = new Map<string, number>();
    for (const { question, references, annotations } of await tasksOf("simulator-exercises")) {
      const answer = / Answer: (.*) Query: /.exec(question)?.[1] ?? "";
      const [reply = ""] = references;
      const { type = "" } = annotations;
      expect(passagesOf(reply)).toHaveLength(2);
      expect(question).toContain(`Passages: ${type.split(" ")[0] ?? ""}\n`);
      if (type === "useful last") {
        expect(passagesOf(reply)[0]).toContain(answer);
        expect(references[1]).toBe(answer);
      } else expect(references).toHaveLength(1);
      if (type.startsWith("noisy")) expect(reply).not.toContain(answer);
      types.set(type, (types.get(type) ?? 0) + 1);
    }
    expect([...types.keys()].sort()).toEqual([
      "noisy earlier",
      "noisy last",
      "useful earlier",
      "useful last",
    ]);
  });
});

describe("dataset verifier-attacks", () => {
  it("takes every kind of attack in turn, none of which the judge shall accept", async () => {
    const tasks = await tasksOf("verifier-attacks", { questions: 50 });
    expect(new Set(tasks.map(({ annotations }) => annotations.type))).toEqual(
      new Set(attacks.names),
    );
    expect(new Set(tasks.flatMap(({ references }) => references))).toEqual(new Set(["no"]));
    const alternatives = only(tasks.find(({ annotations: { type } }) => type === "alternatives"));
    const [, right, , offered] =
      /Right: (\d+)\D.*Answer: (\d+) or (\d+)/.exec(alternatives.question) ?? [];
    expect(offered).toBe(right);
  });
});

describe("dataset judge-exercises", () => {
  const caseOf = ({ question, references, annotations }: Task) => {
    const [, right = "", answer = ""] = / Right: (.*) Answer: (.*)\n/.exec(question) ?? [];
    return { accepted: right.split(" or "), answer, reply: references[0], type: annotations.type };
  };

  it("accepts references with words around them, and neither other values nor parts", async () => {
    for (const each of (await tasksOf("judge-exercises")).map(caseOf)) {
      const bare = each.answer.replace(/^(It is|The answer is|I think it is) /, "");
      const isRight = exactMatch(bare.replace(/\.$/, ""), each.accepted) === 1;
      expect(each).toMatchObject({ reply: isRight ? "yes" : "no" });
    }
  });

  it("gives numbers with all their spellings", async () => {
    const cases = (await tasksOf("judge-exercises", { numbers: 1 })).map(caseOf);
    const fraction = cases.find(({ accepted }) => (accepted[0] ?? "").includes("."));
    expect(fraction?.accepted).toEqual(spellings(Number(fraction?.accepted[0])));
  });

  it("accepts hedged answers in the share of its hole", async () => {
    const options = { hedged: 1, questions: 200 };
    const honest = (await tasksOf("judge-exercises", options)).map(caseOf);
    const holed = (await tasksOf("judge-exercises", { ...options, hole: 1 })).map(caseOf);
    expect(new Set(honest.map(({ reply }) => reply))).toEqual(new Set(["no"]));
    expect(new Set(holed.map(({ reply }) => reply))).toEqual(new Set(["yes"]));
    expect(honest.every(({ answer }) => answer.includes(" or "))).toBe(true);
  });
});

describe("dataset entailment-exercises", () => {
  it("shows the sentence's value where it is entailed, and another where it is contradicted", async () => {
    const labels = new Map<string, number>();
    for (const { question, references, annotations } of await tasksOf("entailment-exercises")) {
      const { type = "" } = annotations;
      const known = { entailed: "true", neutral: "unknown", contradicted: "false" };
      const [verdict, ...stated] = (references[0] ?? "").split(" ").reverse();
      expect(verdict).toBe(known[type as keyof typeof known]);
      // The value that the passages state stands before the verdict.
      if (type === "neutral") expect(stated).toEqual([]);
      else expect(passagesOf(question).join()).toContain(stated.reverse().join(" "));
      const sentence = /^Question: (.*) Is it true\?\n/.exec(question)?.[1] ?? "";
      expect(sentence).not.toMatch(/^Its? /);
      const value = / ((?:\p{Lu}\w+ ?)+|\d+)\.$/u.exec(sentence)?.[1] ?? sentence;
      if (type === "entailed") expect(passagesOf(question).join()).toContain(value);
      labels.set(type, (labels.get(type) ?? 0) + 1);
    }
    for (const count of labels.values()) expect(count).toBeGreaterThan(70);
    expect(labels.size).toBe(3);
  });
});
