import { command, type CommandGroup, family } from "../command.ts";

/** The one list of commands, in the order of help: add a new command to the group of its purpose. Only what is called is loaded. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Data, models and search",
    commands: [
      command(
        "init",
        "set up your own questions and passages",
        async () => (await import("./init.ts")).initCommand,
      ),
      family(
        "data",
        {
          summary: "make, fetch, check and convert datasets",
          description:
            "Question files and corpora: the tiny world, published datasets, everybody's layouts.",
        },
        {
          generate: async () => (await import("./data/generate.ts")).addDataGenerate,
          list: async () => (await import("./data/list.ts")).addDataList,
          download: async () => (await import("./data/download.ts")).addDataDownload,
          check: async () => (await import("./data/check.ts")).addDataCheck,
          convert: async () => (await import("./data/convert.ts")).addDataConvert,
        },
      ),
      family(
        "models",
        {
          summary: "fetch and convert models",
          description:
            "Models for --policy, --model and policy.from: fetched by name, or Hugging Face folders from GGUF files.",
        },
        {
          get: async () => (await import("./models/get.ts")).addModelsGet,
          convert: async () => (await import("./models/convert.ts")).addModelsConvert,
        },
      ),
      family(
        "index",
        {
          summary: "build, change, search and measure search indexes",
          description:
            "Search indexes in folders: exact BM25 over a corpus, or text embeddings by --encoder.",
        },
        {
          plan: async () => (await import("./index/build.ts")).registerPlan,
          build: async () => (await import("./index/build.ts")).registerBuild,
          add: async () => (await import("./index/change.ts")).registerAdd,
          delete: async () => (await import("./index/change.ts")).registerDelete,
          compact: async () => (await import("./index/change.ts")).registerCompact,
          search: async () => (await import("./index/search.ts")).registerSearch,
          check: async () => (await import("./index/check.ts")).registerCheck,
          bench: async () => (await import("./index/bench.ts")).registerBench,
        },
      ),
      family(
        "serve",
        {
          summary: "serve an index over HTTP to any trainer",
          description:
            "Serve an index, or any retriever, over HTTP: POST /retrieve as in Search-R1's server, GET /health, GET /stats. Ctrl-C or SIGTERM stops it after the accepted requests are answered.",
        },
        {
          engine: async () => (await import("./serve/engine.ts")).addServeEngine,
          env: async () => (await import("./serve/env.ts")).addServeEnv,
          policy: async () => (await import("./serve/policy.ts")).addServePolicy,
        },
        async () => (await import("./serve.ts")).addServe,
      ),
    ],
  },
  {
    title: "Training",
    commands: [
      family(
        "synth-data",
        {
          summary: "make trajectories to learn from",
          description:
            "Trajectories of a teacher to learn from. Without a subcommand it is `synth-data draw`: its options are listed by " +
            "`agentrl synth-data draw --help`.",
        },
        {
          draw: async () => (await import("./synth-data/draw.ts")).addSynthDraw,
          select: async () => (await import("./synth-data/select.ts")).addSynthSelect,
          again: async () => (await import("./synth-data/again.ts")).addSynthAgain,
          export: async () => (await import("./synth-data/export.ts")).addSynthExport,
          report: async () => (await import("./report.ts")).addReport,
        },
      ),
      command(
        "sft",
        "fine-tune a policy on trajectories that a teacher wrote",
        async () => (await import("./sft.ts")).sftCommand,
      ),
      command(
        "dpo",
        "train a policy on pairs of better and worse trajectories",
        async () => (await import("./dpo.ts")).dpoCommand,
      ),
      command(
        "train",
        "train a policy with reinforcement learning",
        async () => (await import("./train.ts")).trainCommand,
      ),
      command(
        "resume",
        "continue a run from its folder",
        async () => (await import("./resume.ts")).resumeCommand,
      ),
    ],
  },
  {
    title: "Measuring",
    commands: [
      command(
        "ask",
        "ask a policy questions and watch how it answers",
        async () => (await import("./ask.ts")).askCommand,
      ),
      family(
        "eval",
        {
          summary: "measure a policy on questions, or a retriever on queries",
          description:
            "Measure; nothing is trained. Without a subcommand it is `eval policy`: its options are listed by " +
            "`agentrl eval policy --help`.",
        },
        {
          policy: async () => (await import("./eval.ts")).addEvalPolicy,
          retrieval: async () => (await import("./eval-retrieval.ts")).addEvalRetrieval,
          report: async () => (await import("./report.ts")).addReport,
          compare: async () => (await import("./eval-compare.ts")).addEvalCompare,
        },
      ),
      command(
        "score",
        "score a file of predicted answers",
        async () => (await import("./score.ts")).scoreCommand,
      ),
      family(
        "judge",
        {
          summary: "let a model judge answers, and see how far it can be trusted",
          description:
            "Let a model on an OpenAI-compatible server judge answers. Before anything else it is asked about answers whose " +
            "verdict is known, and both rates are printed; status 6: it could not be evaluated.",
        },
        {
          run: async () => (await import("./judge-run.ts")).addJudgeRun,
          check: async () => (await import("./judge-check.ts")).addJudgeCheck,
          agree: async () => (await import("./judge-check.ts")).addJudgeAgree,
        },
      ),
      command(
        "reproduce",
        "run a recipe's claims over seeds, beside the paper's numbers",
        async () => (await import("./reproduce.ts")).reproduceCommand,
      ),
    ],
  },
  {
    title: "Looking",
    commands: [
      command(
        "report",
        "runs, evaluations and syntheses as a page or file",
        async () => (await import("./report.ts")).reportCommand,
      ),
      family(
        "runs",
        {
          summary: "list and show runs",
          description:
            "Runs of agentrl train, sft and dpo: a list, and the state of one; `agentrl report` compares several. Nothing in a run's " +
            "folder is changed, so runs under way can be looked at.",
        },
        {
          list: async () => (await import("./runs-list.ts")).addRunsList,
          show: async () => (await import("./runs-show.ts")).addRunsShow,
          report: async () => (await import("./report.ts")).addReport,
        },
      ),
      family(
        "trace",
        {
          summary: "check and read trajectories",
          description: "Trajectories of runs, evaluations and syntheses: check them, read them.",
        },
        {
          lint: async () => (await import("./trace-lint.ts")).addTraceLint,
          show: async () => (await import("./trace-show.ts")).addTraceShow,
        },
      ),
      family(
        "recipes",
        {
          summary: "list, show, plan, check and export recipes",
          description: "Recipes: one YAML file per published method, in three sizes (tiers).",
        },
        {
          list: async () => (await import("./recipes-list.ts")).addRecipesList,
          show: async () => (await import("./recipes-show.ts")).addRecipesShow,
          plan: async () => (await import("./recipes-plan.ts")).registerPlan,
          check: async () => (await import("./recipes-check.ts")).addRecipesCheck,
          export: async () => (await import("./recipes-export.ts")).registerExport,
        },
      ),
      family(
        "reward",
        {
          summary: "check that rewards score known answers as they declare",
          description: "Rewards: what a policy is trained for.",
        },
        { check: async () => (await import("./reward.ts")).addRewardCheck },
      ),
      command(
        "doctor",
        "check this machine",
        async () => (await import("./doctor.ts")).doctorCommand,
      ),
    ],
  },
  {
    title: "Your own parts and shell",
    commands: [
      command(
        "new",
        "write a part of your own to start from, with its recipe and test",
        async () => (await import("./new.ts")).newCommand,
      ),
      command(
        "completion",
        "shell completion: bash, zsh, fish, powershell",
        async () => (await import("./completion.ts")).completionCommand,
      ),
    ],
  },
];
