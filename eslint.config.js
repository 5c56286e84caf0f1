import js from "@eslint/js";
import importX from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

// The folders of src/ by layer (docs/architecture.md). A file imports its own folder and folders of a
// smaller layer, nothing else. Import circles within a folder: scripts/check-circles.mjs.
const layers = [
  ["base"],
  ["text", "http", "trajectory", "autodiff", "math", "sandbox"],
  ["data", "retrieval", "onnx", "losses", "advantages", "chat", "hub"],
  ["models", "env", "rewards"],
  ["worlds"],
  ["engine"],
  ["rollout"],
  ["algorithms", "synth", "evaluate", "watch"],
  ["run"],
  ["experiment", "exports"],
  ["view"],
  ["server"],
  ["cli"],
];

// Each dependency has one importing folder (docs/adr/0001-dependencies.md).
const owners = {
  "csv-parse": "data",
  "eventsource-parser": "http",
  hyparquet: "data",
  "hyparquet-compressors": "data",
  "hyparquet-writer": "data",
  "onnxruntime-node": "onnx",
  "@bufbuild/protobuf": "onnx",
  flexsearch: "text",
  "@orama/stemmers": "text",
  "@orama/stopwords": "text",
  "@huggingface/tokenizers": "text",
  "@huggingface/transformers": "retrieval",
  "hnswlib-node": "retrieval",
  commander: "cli",
  "cli-progress": "cli",
  "@bomb.sh/tab": "cli",
  ink: "cli",
  react: "cli",
  yaml: "base",
  "lossless-json": "base",
  mathjs: "math",
  pyodide: "sandbox",
  franc: "text",
  "html-to-text": "data",
  unpdf: "data",
  yauzl: "data",
  undici: "http",
  "proxy-from-env": "http",
  fastify: "server",
  ws: "server",
};

const folders = layers.flat();
const rank = Object.fromEntries(layers.flatMap((names, i) => names.map((name) => [name, i])));
const zones = folders.flatMap((target) =>
  folders
    .filter((from) => from !== target && rank[from] >= rank[target])
    .map((from) => ({
      target: `./src/${target}`,
      from: `./src/${from}`,
      message: `${target}/ (layer ${rank[target]}) may not import ${from}/ (layer ${rank[from]}).`,
    })),
);
// The users of an engine see its interface alone; the server of an engine speaks the remote engine's wire format.
const outside = folders.filter((name) => rank[name] > rank["engine"]);
for (const [part, others] of Object.entries({
  local: outside,
  tinker: outside.filter((name) => name !== "server"),
}))
  zones.push(
    ...others.map((target) => ({
      target: `./src/${target}`,
      from: `./src/engine/${part}`,
      except: part === "local" ? ["./storage-dtypes.ts"] : ["./dialect.ts"],
      message: "Import engine.ts, open-engine.ts, local-plan.ts or remote-plan.ts of src/engine.",
    })),
  );
const ownerRules = folders.map((folder) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: Object.entries(owners)
          .filter(([, owner]) => owner !== folder)
          .map(([name, owner]) => ({
            group: [name, `${name}/*`],
            message: `Only src/${owner}/ imports ${name}.`,
          })),
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ["dist/", "runs/", "src/onnx/schema/", "coverage/"] },
  js.configs.recommended,
  { files: ["**/*.{ts,tsx}"], extends: tseslint.configs.strictTypeChecked },
  {
    files: ["**/*.{ts,tsx}"],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { "import-x": importX },
    settings: {
      "import-x/extensions": [".ts", ".tsx"],
      "import-x/parsers": { "@typescript-eslint/parser": [".ts", ".tsx"] },
      "import-x/resolver-next": [importX.createNodeResolver({ extensions: [".ts", ".tsx"] })],
    },
    rules: {
      "import-x/no-restricted-paths": ["error", { zones }],
      "import-x/no-default-export": "error",
      "no-console": "error",
      // tsconfig's erasableSyntaxOnly, which the generated ONNX schema (enums) does not allow project-wide.
      "no-restricted-syntax": [
        "error",
        "TSEnumDeclaration",
        "TSParameterProperty",
        "TSModuleDeclaration",
      ],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/prefer-nullish-coalescing": "error",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: true },
      ],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
    },
  },
  {
    // Numeric kernels on typed arrays: an index within bounds by construction needs no check.
    files: [
      "src/base/random.ts",
      "src/text/term-cache.ts",
      "src/text/unit-table.ts",
      "src/autodiff/adam-loops.ts",
      "src/autodiff/ops/*.ts", // inputs and cotangents by the operator's own arity
      "src/onnx/{device,lowering,run-memory}.ts", // outputs and inputs of nodes by their own arity
      "src/retrieval/**/*.ts",
      "src/advantages/**/*.ts",
      "src/engine/local/**/*.ts",
      "src/models/**/*.ts",
      "src/algorithms/samplers/shuffled.ts",
      "src/losses/*.ts", // fields that the loss itself declares
      "test/**/*.ts",
    ],
    rules: { "@typescript-eslint/no-non-null-assertion": "off" },
  },
  ...ownerRules,
  { files: ["src/cli/**/*.ts"], rules: { "no-console": "off" } },
  {
    files: ["vitest.config.ts", "vitest.nightly.config.ts", "eslint.config.js"],
    rules: { "import-x/no-default-export": "off" },
  },
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        performance: "readonly",
        AbortController: "readonly",
        URL: "readonly",
        Buffer: "readonly",
        setTimeout: "readonly",
        fetch: "readonly",
      },
    },
  },
);
