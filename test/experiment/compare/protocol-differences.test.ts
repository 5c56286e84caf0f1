import { describe, expect, it } from "vitest";
import {
  checkProtocols,
  differenceText,
} from "../../../src/experiment/compare/protocol-differences.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { madeRun } from "../../helpers/compared-runs.ts";

const protocol = {
  dataset: "files-1",
  questions: 500,
  retriever: "bm25-1",
  topK: { "tools.0.topK": 3 },
  strategy: "agent",
  environment: { protocol: "search-r1", tools: [{ name: "corpus-search", topK: 3 }] },
  prompt: "Question: {question}",
  sampling: { temperature: 0 },
  metrics: "squad-1",
};

const run = (name: string, changes: object = {}) =>
  madeRun(name, [1], { fingerprint: name, protocol: { ...protocol, ...changes } });

describe("checkProtocols", () => {
  it("finds nothing between equal protocols, and does not mind how many questions there are", () => {
    expect(checkProtocols([run("a"), run("b", { questions: 100 })], [])).toEqual({
      differences: [],
      unknown: [],
    });
  });

  it("refuses unlike protocols with every part that differs, each once", () => {
    const environment = {
      protocol: "search-r1",
      tools: [{ name: "corpus-search", topK: 5 }],
      budgets: [{ scope: "turn" }],
    };
    const other = run("b", { retriever: "dense-1", topK: { "tools.0.topK": 5 }, environment });
    expect(() => checkProtocols([run("a"), other], [])).toThrow(
      errorWith(
        "COMPARE_UNLIKE",
        'retriever: "bm25-1" ≠ "dense-1" (b)\n  topK.tools.0.topK: 3 ≠ 5 (b)\n  environment.budgets.0.scope: missing ≠ "turn" (b)\nCompare runs of one protocol, or name every part that may differ: --across retriever,topK,environment.',
      ),
    );
  });

  it("lets the parts differ that are meant to, and no other", () => {
    const runs = [run("a"), run("b", { retriever: "dense-1", prompt: "Q: {question}" })];
    expect(() => checkProtocols(runs, ["retriever"])).toThrow(
      errorWith("COMPARE_UNLIKE", /^(?!.*bm25).*prompt/s),
    );
    const { differences } = checkProtocols(runs, ["retriever", "prompt"]);
    expect(differences.map(differenceText)).toEqual([
      'retriever: "bm25-1" ≠ "dense-1"',
      'prompt: "Question: {question}" ≠ "Q: {question}"',
    ]);
  });

  it("knows hashes alone, and runs that say nothing", () => {
    const hashed = (hex: string) => madeRun(hex, [1], { fingerprint: hex });
    expect(checkProtocols([hashed("aa"), hashed("aa")], []).differences).toEqual([]);
    expect(() => checkProtocols([hashed("aa"), hashed("bb")], [])).toThrow(
      errorWith("COMPARE_UNLIKE", 'protocol: "aa" ≠ "bb"'),
    );
    expect(checkProtocols([hashed("aa"), hashed("bb")], ["protocol"]).differences).toHaveLength(1);
    expect(checkProtocols([hashed("aa"), madeRun("mute", [1])], []).unknown).toEqual(["mute"]);
  });

  it("knows the names of parts", () => {
    expect(() => checkProtocols([run("a"), run("b")], ["retreiver"])).toThrow(
      errorWith("USAGE", 'Did you mean "retriever"?'),
    );
  });
});
