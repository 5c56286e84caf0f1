// Writes the pages that come from code: docs/errors.md, docs/cli.md, docs/results.schema.json, the tables of docs/metrics.md and docs/synthesis.md, from recipes/results docs/atlas.md, and of recipes docs/recipes. With --check it only compares.
// Reads dist/, so build first (`npm run generate` does).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { atlasSystems } from "../dist/cli/atlas.js";
import { atlasDocument } from "../dist/view/documents/atlas.js";
import { documentMarkdown } from "../dist/view/markdown.js";
import { ERROR_CODES } from "../dist/base/errors.js";
import { commandGroups } from "../dist/cli/commands/index.js";
import { answerMetrics } from "../dist/evaluate/metrics/answer-metrics.js";
import { hotpotqaMetrics } from "../dist/evaluate/metrics/hotpotqa-official.js";
import { squadV2Metrics } from "../dist/evaluate/metrics/squad-v2-official.js";
import { rowMetrics } from "../dist/evaluate/metrics/index.js";
import { scoreLayouts } from "../dist/evaluate/score-file.js";
import { normalizations } from "../dist/text/answer-normalizations.js";
import { hints } from "../dist/rollout/hints/index.js";
import { taskAnnotations } from "../dist/synth/annotations/index.js";
import { sampleScorers } from "../dist/synth/scorers/index.js";
import { sampleSelectors } from "../dist/synth/selectors/index.js";
import { synthSteps } from "../dist/synth/steps/index.js";
import * as prettier from "prettier";
import { resultsJsonSchema } from "../dist/view/results-schema.js";
import { recipePages } from "./recipe-pages.mjs";
import { buildProgram } from "../dist/cli/program.js";

const docs = join(import.meta.dirname, "..", "docs");
const pages = {
  "errors.md": errorsPage(),
  "cli.md": cliPage(),
  "results.schema.json": await schemaPage(),
  "metrics.md": metricsPage(),
  "synthesis.md": synthesisPage(),
  "atlas.md": await atlasPage(),
  ...(await formattedRecipePages()),
};
const check = process.argv.includes("--check");

for (const [name, text] of Object.entries(pages)) {
  const path = join(docs, name);
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (before === text) continue;
  if (check) {
    console.error(
      `docs/${name} is not what the code says: run \`npm run generate\` and commit it.`,
    );
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`docs/${name} written`);
  }
}

async function formattedRecipePages() {
  const options = await prettier.resolveConfig(join(docs, "recipes.md"));
  const pages = Object.entries(await recipePages()).map(async ([name, text]) => [
    `recipes/${name}`,
    await prettier.format(text, { ...options, parser: "markdown" }),
  ]);
  return Object.fromEntries(await Promise.all(pages));
}

async function atlasPage() {
  const text = documentMarkdown(atlasDocument(await atlasSystems(undefined, null)));
  return `<!-- Generated from recipes/results by \`npm run generate\`. -->\n\n${text}`;
}

async function schemaPage() {
  const text = JSON.stringify(resultsJsonSchema());
  const options = await prettier.resolveConfig(join(docs, "results.schema.json"));
  return prettier.format(text, { ...options, parser: "json" });
}

/** The page as it is, its tables renewed: each stands between `<!-- table NAME -->` and `<!-- end -->`. */
function metricsPage() {
  const tables = {
    metrics: partTable(rowMetrics.parts, ["source", (metric) => metric.source]),
    answers: partTable(
      answerMetrics.parts,
      ["normalization", (metric) => metric.normalization ?? "as told"],
      ["source", (metric) => metric.source],
    ),
    normalizations: partTable(normalizations.parts, ["source", (part) => part.source]),
    hotpotqa: partTable(hotpotqaMetrics.parts),
    squad: partTable(squadV2Metrics.parts),
    layouts: partTable(scoreLayouts.parts),
  };
  return withTables("metrics.md", tables);
}

/** As `metricsPage`. */
function synthesisPage() {
  const source = ["source", (part) => (part.source ?? "").replaceAll("|", "\\|")];
  const tables = {
    annotations: partTable(taskAnnotations.parts, source),
    hints: partTable(hints.parts, source),
    scorers: partTable(sampleScorers.parts, source),
    steps: partTable(synthSteps.parts, ["kind", (step) => step.kind], source),
    selectors: partTable(sampleSelectors.parts, source),
  };
  return withTables("synthesis.md", tables);
}

function withTables(page, tables) {
  return readFileSync(join(docs, page), "utf8").replace(
    /(<!-- table (\w+) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin, name, end) => `${begin}${tables[name]}${end}`,
  );
}

function partTable(parts, ...columns) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const rows = parts.map((part) =>
    line([
      `\`${part.name}\``,
      part.summary.replaceAll("|", "\\|"),
      ...columns.map(([, of]) => of(part)),
    ]),
  );
  const heads = ["name", "what it is", ...columns.map(([head]) => head)];
  return line(heads) + line(heads.map(() => "---")).replaceAll(" ", "") + rows.join("");
}

function errorsPage() {
  const rows = Object.entries(ERROR_CODES)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, meaning]) => `| \`${code}\` | ${meaning.replaceAll("|", "\\|")} |`);
  return `<!-- Generated from src/base/errors.ts by \`npm run generate\`. -->
# Errors

Every message ends with its code in brackets. \`--debug\` shows where it comes from.

| exit status | who must act |
|---|---|
| 0 | nobody: done |
| 1 | we: a bug of ours, shown with its stack |
| 2 | you: the command line or the recipe |
| 3 | you: a file |
| 4 | the machine: disk, network, runtime; or the run itself failed |
| 5 | a score required with \`--require\` was missed |
| 6 | a required score could not be computed |
| 7 | the machine: the engine gave no sign of life any more; --resume goes on |
| 129 | you closed its terminal; what is finished is kept |
| 130 | you interrupted it |
| 141 | whoever read its output went away |
| 143 | it was asked to end (SIGTERM), as containers and schedulers do; what is finished is kept |

| code | meaning |
|---|---|
${rows.join("\n")}
`;
}

function cliPage() {
  const silent = () => undefined;
  const context = {
    out: silent,
    note: silent,
    terminal: false,
    call: "agentrl",
    signal: new AbortController().signal,
    untilStopped: () => Promise.resolve(),
  };
  const io = {
    out: silent,
    err: silent,
    terminal: false,
    width: 100,
    call: "agentrl",
    onStop: () => silent,
  };
  const events = { onStart: silent, onUsageError: silent };
  const program = buildProgram(commandGroups, context, io, events);
  const sections = leaves(program).map((command) => section(command));
  return `<!-- Generated from the program by \`npm run generate\`. -->
# Commands

Every command also takes \`--quiet\` (results and errors only) and \`--debug\` (show where an error comes from).
Results go to stdout, everything for people to stderr.

Data cannot act on a terminal: control characters, bidirectional controls and invisible characters are printed as JSON escapes (\`\\u001b\`), on stdout
and stderr, which leaves the value of JSON as it is. What another program reads byte by byte (the answer of \`ask\`, results by \`--format\`) is
unchanged in a pipe or file, and escaped on a terminal.

${sections.join("\n")}`;
}

function section(command) {
  const rows = [
    ...command.registeredArguments.map((argument) => [
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      argument.description,
    ]),
    ...command.options.map(({ flags, description }) => [flags, description]),
  ].map(([name, text]) => `| \`${name}\` | ${text.replaceAll("|", "\\|")} |`);
  const table = rows.length === 0 ? "" : `\n| | |\n|---|---|\n${rows.join("\n")}\n`;
  return `## ${pathOf(command)}\n\n${command.description() || command.summary()}\n${table}`;
}

function leaves(command) {
  const own = command._actionHandler == null ? [] : [command];
  return [...own, ...command.commands.flatMap(leaves)];
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
