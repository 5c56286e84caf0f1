// Writes the pages that come from code, recipes and results: docs/atlas.md, cli.md, errors.md, papers.md, parts.md, settings.md and
// results.schema.json. With --check it only compares.
// Reads dist/, so build first (`npm run generate` does).
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atlasSystems } from "../dist/cli/atlas.js";
import { atlasDocument } from "../dist/view/documents/atlas.js";
import { documentMarkdown } from "../dist/view/markdown.js";
import { ERROR_CODES } from "../dist/base/errors.js";
import { commandGroups } from "../dist/cli/commands/index.js";
import * as prettier from "prettier";
import { resultsJsonSchema } from "../dist/view/results-schema.js";
import { buildProgram } from "../dist/cli/program.js";
import { papersPage } from "./papers-page.mjs";
import { partsPage } from "./parts-page.mjs";
import { settingsPage } from "./settings-page.mjs";

const docs = join(import.meta.dirname, "..", "docs");
const pages = {
  "errors.md": errorsPage(),
  "cli.md": await cliPage(),
  "results.schema.json": await schemaPage(),
  "atlas.md": await atlasPage(),
  "papers.md": await papersPage(),
  "parts.md": partsPage(),
  "settings.md": settingsPage(),
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
    writeFileSync(path, text);
    console.log(`docs/${name} written`);
  }
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

function errorsPage() {
  const rows = Object.entries(ERROR_CODES)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, meaning]) => `| \`${code}\` | ${meaning.replaceAll("|", "\\|")} |`);
  return `<!-- Generated from src/base/errors.ts by \`npm run generate\`. -->
# Errors

Every message ends with its code in brackets. \`--debug\` shows where it comes from. What to do when a machine, disk or server fails: [running](running.md#when-something-goes-wrong).

| exit status | who must act |
|---|---|
| 0 | nobody: done |
| 1 | we: a bug of ours, shown with its stack |
| 2 | you: the command line or the recipe |
| 3 | you: a file |
| 4 | the machine: disk, network, runtime; or the run itself failed |
| 5 | a score required with \`--require\` was missed |
| 6 | a required score could not be computed |
| 7 | the machine: the engine hangs; --resume continues |
| 129 | you closed its terminal; what is finished is kept |
| 130 | you interrupted it |
| 141 | whoever read its output went away |
| 143 | it was asked to end (SIGTERM), as containers and schedulers do; what is finished is kept |

| code | meaning |
|---|---|
${rows.join("\n")}
`;
}

async function cliPage() {
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
  const program = await buildProgram(commandGroups, context, io, events);
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
  const shown = command.createHelp().visibleCommands(command);
  return [...own, ...shown.filter((each) => each.name() !== "help").flatMap(leaves)];
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
