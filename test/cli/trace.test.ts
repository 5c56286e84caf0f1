import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { screenOf } from "../../src/cli/trace/screen.ts";
import { beside, painted, piece, wrap } from "../../src/view/styled.ts";
import { lintRules } from "../../src/trajectory/lint/index.ts";
import { LINE_CODES } from "../../src/trajectory/lint/lint-lines.ts";
import { readText } from "../../src/base/files.ts";
import { searchTrajectory, writeResults } from "../helpers/report-folder.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { writeSynthesis } from "../helpers/synthesis-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const traceCommand = commandNamed("trace");

const folder = temporaryFolder();
const row = { id: "q", question: "What is the capital?", em: 1 };
const evaluation = writeResults(join(folder, "evaluation"), [row]);
const file = join(evaluation, "trajectories.jsonl");
const synthesis = writeSynthesis(join(folder, "synthesis"));

const run = (...args: string[]) => runCommand(traceCommand, ["trace", ...args], folder);

describe("agentrl trace lint", () => {
  it("ends well where nothing is wrong, and says what it could not tell", async () => {
    const { stdout, status } = await run("lint", file);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^\/evaluation\/trajectories\.jsonl: 1 trajectory checked, no violation\.\n.*: logprob-greedy, end-token, answer .*--protocol.*--model/,
    );
  });

  it("ends with 3 where a rule is broken, each named with its line, the first ones shown", async () => {
    const bad = join(folder, "bad.jsonl");
    const made = searchTrajectory(row);
    const lines = [
      made,
      { ...made, id: "r", groupId: "" },
      { ...made, id: "s", groupId: "", end: "tool-error" },
    ];
    writeFileSync(bad, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"cut\n`);
    const { stdout, stderr, status } = await run("lint", bad);
    expect(status).toBe(3);
    const [head, , ...table] = stdout.split("\n");
    expect(head).toBe("/bad.jsonl: 3 trajectories checked, 4 violations.");
    expect(table.slice(0, 4).map((line) => line.trim().split(/ {2,}/).slice(0, -1))).toEqual([
      ["names", "2", "line 2", "r"],
      ["line 3", "s"],
      ["end", "1", "line 3", "s"],
      ["json", "1", "line 4"],
    ]);
    expect(stdout).toContain("/bad.jsonl:4: is not JSON");
    expect(stderr).toContain("[TRACE_VIOLATIONS]");
    const json = await run("lint", bad, "--json", "--limit", "1");
    const { checked, violations, counts } = JSON.parse(json.stdout) as Record<string, unknown>;
    expect({ checked, counts }).toEqual({ checked: 3, counts: { names: 2, end: 1, json: 1 } });
    expect(
      (violations as { code: string; line: number }[]).map(({ code, line }) => [code, line]),
    ).toEqual([
      ["names", 2],
      ["end", 3],
      ["json", 4],
    ]);
  });

  it("reads samples, draws and pairs", async () => {
    for (const [name, checked] of [
      ["samples", 2],
      ["draws", 4],
      ["pairs", 2],
      ["dropped", 1],
    ] as const) {
      const { stdout, status } = await run("lint", join(synthesis, `${name}.jsonl`), "--json");
      expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({ status: 0, checked });
    }
  });

  it("holds messages to a protocol that is named", async () => {
    const wrong = join(folder, "wrong.jsonl");
    writeFileSync(wrong, JSON.stringify({ ...searchTrajectory(row), answer: "Rome" }));
    expect((await run("lint", wrong)).status).toBe(0);
    const { stdout, status } = await run("lint", wrong, "--protocol", "search-r1");
    expect(status).toBe(3);
    expect(stdout).toContain('answer is "Rome"; the protocol\'s rule finds "Paris"');
  });

  it("has every rule in its documentation", async () => {
    const text = await readText(join(import.meta.dirname, "../../docs/files.md"));
    const codes = [...lintRules.names, ...Object.keys(LINE_CODES), "template", "logprob-drift"];
    expect(codes.filter((code) => !text.includes(`| \`${code}\` |`))).toEqual([]);
  });
});

describe("agentrl trace show", () => {
  it("puts the owner before every line in a pipe, with question and verdict of an evaluation", async () => {
    const { stdout, status } = await run("show", file);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^q\/0 · eval · seed 1\nQuestion +What is the capital\?$/m);
    expect(stdout).toMatch(/^Verdict +✓ right$/m);
    expect(stdout).toMatch(
      /^── Message 2 ─+\nenvironment {2}\| <information>Doc 1\(Title: France\)/m,
    );
    const owners = stdout.split("\n").flatMap((line) => /^(\w+) +\| /.exec(line)?.[1] ?? []);
    expect(owners).toEqual([
      ...["template", "policy", "environment", "environment", "environment", "inserted", "policy"],
    ]);
  });

  it("tells how a sample came about, and why it was dropped", async () => {
    const { stdout } = await run("show", join(synthesis, "dropped.jsonl"));
    expect(stdout).toMatch(/^Dropped +format: unpaired tag$/m);
    expect(stdout).toMatch(/^Steps +format → weights \(0\.5\)$/m);
    expect(stdout).toMatch(/^Hints +first-thought in message 2$/m);
    expect(stdout).toContain("inserted     | <think>");
  });

  it("shows both sides of a pair, chosen first, and of draws the one that is asked for", async () => {
    const { stdout } = await run("show", join(synthesis, "pairs.jsonl"));
    expect(stdout.indexOf("chosen  q1/plain-0")).toBeGreaterThan(0);
    expect(stdout.indexOf("rejected  q1/hinted-0")).toBeGreaterThan(stdout.indexOf("chosen  "));
    const draw = await run("show", join(synthesis, "draws.jsonl"), "--id", "q3/plain-0");
    expect(draw.stdout).toContain("Where is 3?");
  });

  it("shortens what the policy did not write, and shows it whole when asked", async () => {
    const long = searchTrajectory(row);
    const shown = long.calls[1]?.prompt[0];
    if (shown !== undefined)
      shown.text = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n");
    const path = join(folder, "long.jsonl");
    writeFileSync(path, JSON.stringify(long));
    const short = await run("show", path);
    expect(short.stdout).toContain("environment  | … 18 more lines (--full)");
    expect((await run("show", path, "--full")).stdout).toContain("environment  | line 29");
  });

  it("names what is there when nothing fits", async () => {
    const { stderr, status } = await run("show", file, "--id", "x");
    expect(status).toBe(3);
    expect(stderr).toContain(
      `has no record with the id "x". It has 1 record, numbered from 0; the first ids are "q/0".`,
    );
    expect(stderr).toContain("[TRACE_NOT_FOUND]");
  });
});

describe("text for a terminal", () => {
  it("wraps at words, breaks words that are longer than a line, and counts wide characters twice", () => {
    const text = (width: number, ...pieces: string[]) =>
      painted(
        wrap(
          pieces.map((each) => piece(each)),
          width,
        ),
        false,
      ).text;
    expect(text(10, "one two", " three four")).toBe("one two\nthree four");
    expect(text(4, "abcdefghij k")).toBe("abcd\nefgh\nij k");
    expect(text(4, "東京都庁")).toBe("東京\n都庁");
    expect(text(20, "a\n\nb")).toBe("a\n\nb");
  });

  it("shows control characters instead of obeying them, and colours only when asked", () => {
    const line = [piece("a\u001b[31mb", "inserted")];
    expect(painted([line], false).text).toBe("a\\u001b[31mb");
    expect(painted([line], true).text).toBe("\u001b[30;43ma\\u001b[31mb\u001b[0m");
    expect(painted(beside([[piece("ab")]], [[piece("c")], [piece("d")]], 4), false).text).toBe(
      "ab   │ c\n     │ d",
    );
  });

  it("has colours on a terminal alone, unless NO_COLOR or FORCE_COLOR say otherwise", () => {
    const terminal = { isTTY: true, columns: 90 };
    expect(screenOf(terminal, {})).toEqual({ columns: 90, colours: true });
    expect(screenOf(terminal, { NO_COLOR: "1" }).colours).toBe(false);
    expect(screenOf(terminal, { NO_COLOR: "" }).colours).toBe(true);
    expect(screenOf(terminal, { TERM: "dumb" }).colours).toBe(false);
    expect(screenOf(terminal, {}, true).colours).toBe(false);
    expect(screenOf({}, {})).toEqual({ columns: 100, colours: false });
    expect(screenOf({}, { FORCE_COLOR: "1" }).colours).toBe(true);
  });
});
