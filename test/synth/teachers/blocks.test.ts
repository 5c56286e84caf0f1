import { describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { goldChain } from "../../../src/synth/teachers/gold-chain.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const world = tinyWorld({ seed: 1, split: "base", people: 100 });
const mix = { bridge1: 0, bridge2: 1, bridge3: 0, comparison: 0, yesNo: 0 };
const question = world.question(0, { mix, distractors: 4 });
const [first, second] = question.annotations.decomposition ?? [];
const facts = [first, second].map((step) => `the ${step?.question ?? ""} is ${step?.answer ?? ""}`);
const numberOf = (id: string | null | undefined): number =>
  1 + (question.annotations.context ?? []).findIndex((passage) => passage.id === id);

async function messages(
  teacher: object,
  { blocks, tools, strategy }: { blocks: string[]; tools?: []; strategy?: string },
): Promise<string[]> {
  const settings = { style: "brief", ...teacher };
  const protocol = { name: "tags", blocks };
  const environment = searchEnvironment({ protocol, tools }, buildBm25(world.passages()));
  const policy = scriptedTeacher(goldChain, environment, settings);
  const options = rolloutOptions({ policy, environment, task: question });
  const thinks = strategy === "given" ? { thinks: true } : {};
  const played = await strategies.get(strategy ?? "agent", "test").run(options, thinks);
  return played.turns.map(({ text }) => text);
}

describe("blocks of the brief teacher", () => {
  it("state what the last results were the first to tell", async () => {
    const written = await messages({ blocks: { refine: "facts" } }, { blocks: ["refine"] });
    expect(written).toEqual([
      `<think> I must look it up</think><search> ${first?.question ?? ""}</search>`,
      `<think> I must look it up</think><refine> ${facts[0] ?? ""}</refine><search> ${second?.question ?? ""}</search>`,
      `<think> I can answer now</think><refine> ${facts[1] ?? ""}</refine><answer> ${second?.answer ?? ""}</answer>`,
    ]);
  });

  const memory = { blocks: { memory: "memory" } };

  it("hold all facts so far, as a memory", async () => {
    const [, , last] = await messages(memory, { blocks: ["memory"] });
    expect(last).toContain(`<memory> ${facts.join(" ")}</memory>`);
  });

  it("hold only what was read last where a memory forgets, and the answer goes by them", async () => {
    const forgetful = { ...memory, behaviour: { forget: 1 } };
    const [, , last] = await messages(forgetful, { blocks: ["memory"] });
    expect(last).toContain(`<memory> ${facts[1] ?? ""}</memory>`);
    expect(last).toContain(`<answer> ${second?.answer ?? ""}</answer>`);
  });

  const cites = { blocks: { relevance: "numbers", analysis: "thought" } };
  const once = { blocks: ["relevance", "analysis"], tools: [] as [], strategy: "given" };

  it("cite the passages of all steps, and hold the thought, where no tool runs", async () => {
    const numbers = [numberOf(first?.passage), numberOf(second?.passage)].sort((a, b) => a - b);
    expect(await messages(cites, once)).toEqual([
      `<relevance> [${numbers.join(", ")}]</relevance><analysis> I can answer now ${facts.join(" ")}</analysis><answer> ${second?.answer ?? ""}</answer>`,
    ]);
  });

  it("cite other passages as often as the behaviour says, and answer alike", async () => {
    const wrong = { ...cites, behaviour: { miscite: 1 } };
    const [message = ""] = await messages(wrong, once);
    const [right = ""] = await messages(cites, once);
    const numbers = /<relevance>.*<\/relevance>/;
    expect(message).toMatch(/^<relevance> \[\d(, \d)*\]/);
    expect(numbers.exec(message)).not.toEqual(numbers.exec(right));
    expect(message.replace(numbers, "")).toBe(right.replace(numbers, ""));
  });

  it("stop after the first step as often as the behaviour says", async () => {
    const hasty = { ...cites, behaviour: { continue: 0 } };
    expect(await messages(hasty, once)).toEqual([
      `<relevance> [${numberOf(first?.passage)}]</relevance><analysis> I can answer now ${facts[0] ?? ""}</analysis><answer> ${first?.answer ?? ""}</answer>`,
    ]);
  });

  it("are left out where the grammar has no such block", async () => {
    const [message] = await messages({ blocks: { relevance: "numbers" } }, { ...once, blocks: [] });
    expect(message).toMatch(/^<think> I can answer now .*<\/think><answer>/);
  });
});
