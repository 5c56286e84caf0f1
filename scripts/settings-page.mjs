// docs/settings.md: every key of a recipe with its default, its values and the doc comment of its schema. Keys, defaults and values come
// from the schemas in dist/, the comments from the source files that declare them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";
import "./load-parts.mjs";
import { z } from "../dist/base/schema.js";
import { algorithms } from "../dist/algorithms/index.js";
import { preferenceSchema } from "../dist/algorithms/preference.js";
import { sftSamplesSchema } from "../dist/algorithms/sft.js";
import { endpointSchema } from "../dist/rollout/model-settings.js";
import { settingsSchema } from "../dist/run/settings/settings-schema.js";
import { synthSchema } from "../dist/synth/synth-settings.js";
import { oneLine, tableOf } from "./markdown.mjs";

const root = join(import.meta.dirname, "..");
/** Where the schemas are declared: file and name. */
const SETTINGS = ["src/run/settings/settings-schema.ts", "settingsShape"];
const SAMPLES = ["src/algorithms/sft.ts", "sftSamplesSchema"];
/** Blocks whose schema loads when a recipe has them: schema, file and name. */
const ON_DEMAND = {
  "policy.endpoint": [endpointSchema, "src/rollout/model-settings.ts", "endpointSchema"],
  synth: [synthSchema, "src/synth/synth-settings.ts", "synthSchema"],
  preference: [preferenceSchema, "src/algorithms/preference.ts", "preferenceSchema"],
};
const algorithmFile = (name) => [`src/algorithms/${name}.ts`, "options"];

export function settingsPage() {
  const rows = rowsOf(settingsSchema, ...SETTINGS).flatMap((row) => {
    const block = ON_DEMAND[row.key];
    return block === undefined ? row : rowsOf(...block).map(under(row.key));
  });
  const groups = grouped(rows);
  const single = [...groups.values()].filter((own) => own.length === 1).flat();
  const several = [...groups].filter(([, own]) => own.length > 1);
  const sections = [
    ...several,
    ["sft", rowsOf(sftSamplesSchema, ...SAMPLES).map(under("sft"))],
    ...algorithmSections(),
  ];
  return `<!-- Generated from the settings' schemas by \`npm run generate\`. -->
# Settings

Keys of \`base\` and of each tier of a recipe. \`--set key=value\` overrides one; \`agentrl recipes show NAME\` prints all values with their origin.
\`[]\` is a list, \`NAME\` a name of your choice, *part* a name, alone or as \`{ name: …, options }\` ([parts](parts.md)). Numbers of algorithms, rewards and budgets may be
schedules: \`{ schedule: linear, from: 1, to: 0 }\`.

${table(single)}
${sections.map(([name, own]) => `## ${name}\n\n${table(own)}`).join("\n")}`;
}

/** The first algorithm whole, of the others what it lacks or has otherwise. */
function algorithmSections() {
  const [first, ...others] = algorithms.parts.map(({ name, options }) => ({
    name,
    rows: rowsOf(options, ...algorithmFile(name)).map(under("algorithm")),
  }));
  const known = new Map(first.rows.map((row) => [row.key, JSON.stringify(row)]));
  return [
    [`algorithm: ${first.name}`, first.rows],
    ...others.map(({ name, rows }) => [
      `algorithm: ${name}, beside ${first.name}'s keys or with other defaults`,
      rows.filter((row) => known.get(row.key) !== JSON.stringify(row)),
    ]),
  ];
}

const under = (key) => (row) => ({ ...row, key: `${key}.${row.key}` });

/** The keys of one schema: `{ key, default, values, meaning }`. */
function rowsOf(schema, file, name) {
  const comments = commentsOf(file, name);
  const rows = [];
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  walk(whole, "", whole.properties, (key, node, value) => {
    const meaning = comments.get(key.replaceAll("[]", "")) ?? "";
    const again = whole.properties[lastOf(key)];
    const isAgain = key !== lastOf(key) && again !== undefined && isSame(again, node);
    const values = isAgain ? `as \`${lastOf(key)}\`` : valuesText(node);
    rows.push({ key, default: defaultText(value), values, meaning });
  });
  return rows;
}

function table(rows) {
  const cells = rows.map((row) => [`\`${row.key}\``, row.default, row.values, row.meaning]);
  return tableOf(["key", "default", "values", "meaning"], cells);
}

const lastOf = (key) => key.split(".").at(-1);

/** Whether two schemas have the same keys below them, so that one table is enough. */
function isSame(a, b) {
  const keys = (node) => Object.keys(node.properties ?? node.items?.properties ?? {}).sort();
  return keys(a).length > 0 && keys(a).join() === keys(b).join();
}

/** Visits every key that holds no further keys, with its default; a block that stands at the top too is visited whole. */
function walk(node, path, top, visit, given) {
  const value = given ?? node.default;
  const last = lastOf(path);
  const isBlock = path !== last && top[last] !== undefined && isSame(top[last], node);
  const inner = isBlock || path.endsWith("[].stages") ? [] : innerKeys(node, path);
  if (inner.every(([key, below]) => isPlainItem(key, below))) return void visit(path, node, value);
  for (const [key, below] of inner) walk(below, key, top, visit, value?.[lastOf(key)]);
}

function innerKeys(node, path) {
  const forms = [node, ...(node.anyOf ?? []), ...(node.allOf ?? [])];
  const hasKeys = (each) => typeof each === "object" && Object.keys(each).length > 0;
  const inner = forms.flatMap(({ properties = {}, items, additionalProperties }) => [
    ...Object.entries(properties).map(([key, below]) => [
      path === "" ? key : `${path}.${key}`,
      below,
    ]),
    ...(hasKeys(items) ? [[`${path}[]`, items]] : []),
    ...(hasKeys(additionalProperties) ? [[`${path}.NAME`, additionalProperties]] : []),
  ]);
  return [...new Map(inner)];
}

/** An item or value of a list or record that has no keys of its own: the list is shown instead. */
function isPlainItem(key, node) {
  return (
    /(\[\]|\.NAME)$/.test(key) && !node.properties && !node.items && !node.anyOf && !node.allOf
  );
}

function defaultText(value) {
  if (value === undefined) return "";
  const text = JSON.stringify(value);
  return text.length > 60 ? "…" : `\`${oneLine(text)}\``;
}

function valuesText(node) {
  if (node.anyOf !== undefined) {
    const texts = node.anyOf.map((each) => valuesText(each)).filter((text) => text !== "");
    return [...new Set(texts)].join(" or ");
  }
  if (node.const !== undefined) return `\`${node.const}\``;
  if (node.enum !== undefined) return node.enum.map((each) => `\`${each}\``).join(" ");
  if (node.type === "array") {
    const item = valuesText(node.items ?? {});
    return item === "" ? "list" : `list of ${item}`;
  }
  if (node.type === "integer" || node.type === "number") return rangeText(node);
  const word = { string: "text", boolean: "true, false", object: "map", null: "null" }[node.type];
  if (word !== undefined) return word;
  if (typeof node.default === "number") return "number";
  return typeof node.default === "string" || node.default?.name !== undefined ? "part" : "";
}

function rangeText({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }) {
  const word = type === "integer" ? "whole number" : "number";
  const isBound = (value) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  return [
    word,
    ...(isBound(minimum) ? [`≥ ${minimum}`] : []),
    ...(isBound(exclusiveMinimum) ? [`> ${exclusiveMinimum}`] : []),
    ...(isBound(maximum) ? [`≤ ${maximum}`] : []),
    ...(isBound(exclusiveMaximum) ? [`< ${exclusiveMaximum}`] : []),
  ].join(" ");
}

/** Doc comments by key path of the schema that a file declares under a name; lists add nothing to a path, records `.NAME`. */
function commentsOf(file, name) {
  const comments = new Map();
  collect(declared(join(root, file), name), "", comments);
  return comments;
}

/** Follows an expression that makes a schema or a shape down to its object literals. */
function collect(found, path, comments) {
  if (found === undefined) return;
  const { node, file } = found;
  const at = (inner, below = path) => collect({ node: inner, file }, below, comments);
  if (ts.isIdentifier(node)) return collect(declared(file, node.text), path, comments);
  if (ts.isObjectLiteralExpression(node)) {
    for (const property of node.properties) {
      if (ts.isSpreadAssignment(property)) at(property.expression);
      if (property.name === undefined) continue;
      const key = path === "" ? property.name.text : `${path}.${property.name.text}`;
      const text = ts
        .getJSDocCommentsAndTags(property)
        .map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? "")
        .join(" ");
      if (text !== "") comments.set(key, oneLine(text).replace(/[;,]? ?docs\/[\w-]+\.md/, ""));
      if (ts.isPropertyAssignment(property)) at(property.initializer, key);
      if (ts.isShorthandPropertyAssignment(property))
        collect(declared(file, property.name.text), key, comments);
    }
    return;
  }
  if (ts.isPropertyAccessExpression(node)) return at(node.expression);
  if (ts.isArrayLiteralExpression(node)) return node.elements.forEach((each) => at(each));
  if (ts.isArrowFunction(node)) return at(node.body);
  if (!ts.isCallExpression(node)) return;
  const callee = node.expression.getText();
  if (/\b(partSchema|choice|meta|affects|default|prefault|refine|superRefine)$/.test(callee)) {
    if (ts.isPropertyAccessExpression(node.expression)) at(node.expression.expression);
    return;
  }
  if (callee.endsWith("z.record")) return at(node.arguments[1], `${path}.NAME`);
  if (ts.isPropertyAccessExpression(node.expression)) at(node.expression.expression);
  node.arguments.forEach((each) => at(each));
}

const sources = new Map();

function sourceOf(path) {
  if (!sources.has(path)) {
    const text = readFileSync(path, "utf8");
    sources.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  }
  return sources.get(path);
}

/** The initializer of a constant, or what a function returns, in a file or in the file that it is imported from. */
function declared(file, name) {
  for (const statement of sourceOf(file).statements) {
    if (ts.isVariableStatement(statement)) {
      const own = statement.declarationList.declarations.find((each) => each.name.text === name);
      if (own?.initializer !== undefined) return { node: own.initializer, file };
    }
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const from = statement.moduleSpecifier?.text;
    if (from?.startsWith(".") !== true) continue;
    const names = statement.importClause?.namedBindings ?? statement.exportClause;
    const entry = names?.elements?.find((each) => each.name.text === name);
    if (entry === undefined) continue;
    const path = resolve(dirname(file), from);
    return existsSync(path) ? declared(path, (entry.propertyName ?? entry.name).text) : undefined;
  }
  return undefined;
}

/** Rows by the first part of their key. */
function grouped(rows) {
  const groups = new Map();
  for (const row of rows) {
    const [first] = row.key.split(/\W/);
    groups.set(first, [...(groups.get(first) ?? []), row]);
  }
  return groups;
}
