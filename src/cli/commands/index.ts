import { command, type CommandGroup, family } from "../command.ts";

/** The one list of commands, in the order of help: add a new command to the group of its purpose. Only what is called is loaded. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Data, models and search",
    commands: [
      command("init", "set up your own questions and passages", () => import("./init.ts")),
      family(
        "data",
        {
          summary: "make, fetch, check and convert datasets",
          description:
            "Question files and corpora: the tiny world, published datasets, everybody's layouts.",
        },
        {
          generate: async () => (await import("./data/generate.ts")).dataGenerate,
          list: async () => (await import("./data/list.ts")).dataList,
          download: async () => (await import("./data/download.ts")).dataDownload,
          check: async () => (await import("./data/check.ts")).dataCheck,
          convert: async () => (await import("./data/convert.ts")).dataConvert,
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
          get: async () => (await import("./models/get.ts")).modelsGet,
          convert: async () => (await import("./models/convert.ts")).modelsConvert,
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
          plan: async () => (await import("./index/build.ts")).indexPlan,
          build: async () => (await import("./index/build.ts")).indexBuild,
          add: async () => (await import("./index/change.ts")).indexAdd,
          delete: async () => (await import("./index/change.ts")).indexDelete,
          compact: async () => (await import("./index/change.ts")).indexCompact,
          search: async () => (await import("./index/search.ts")).indexSearch,
          check: async () => (await import("./index/check.ts")).indexCheck,
          bench: async () => (await import("./index/bench.ts")).indexBench,
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
          engine: async () => (await import("./serve/engine.ts")).serveEngineCommand,
          env: async () => (await import("./serve/env.ts")).serveEnvCommand,
          policy: async () => (await import("./serve/policy.ts")).servePolicyCommand,
        },
        async () => (await import("./serve.ts")).serveCommand,
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
          draw: async () => (await import("./synth-data/draw.ts")).synthDraw,
          questions: async () => (await import("./synth-data/questions.ts")).synthQuestions,
          select: async () => (await import("./synth-data/select.ts")).synthSelect,
          again: async () => (await import("./synth-data/again.ts")).synthAgain,
          export: async () => (await import("./synth-data/export.ts")).synthExport,
          report: async () => (await import("./report.ts")).makeReportCommand("synthesis"),
        },
      ),
      command(
        "sft",
        "fine-tune a policy on trajectories that a teacher wrote",
        () => import("./sft.ts"),
      ),
      command(
        "dpo",
        "train a policy on pairs of better and worse trajectories",
        () => import("./dpo.ts"),
      ),
      command("train", "train a policy with reinforcement learning", () => import("./train.ts")),
      command("resume", "continue a run from its folder", () => import("./resume.ts")),
    ],
  },
  {
    title: "Measuring",
    commands: [
      command("ask", "ask a policy questions and watch how it answers", () => import("./ask.ts")),
      command("play", "play a recipe's environment yourself", () => import("./play.ts")),
      family(
        "eval",
        {
          summary: "measure a policy on questions, or a retriever on queries",
          description:
            "Measure; nothing is trained. Without a subcommand it is `eval policy`: its options are listed by " +
            "`agentrl eval policy --help`.",
        },
        {
          policy: async () => (await import("./eval.ts")).evalPolicy,
          retrieval: async () => (await import("./eval-retrieval.ts")).evalRetrievalCommand,
          report: async () => (await import("./report.ts")).makeReportCommand("evaluation"),
          compare: async () => (await import("./eval-compare.ts")).evalCompareCommand,
          table: async () => (await import("./eval-table.ts")).evalTableCommand,
        },
      ),
      command("score", "score a file of predicted answers", () => import("./score.ts")),
      family(
        "judge",
        {
          summary: "let a model judge answers, and see how far it can be trusted",
          description:
            "Let a model on an OpenAI-compatible server judge answers. Before anything else it is asked about answers whose " +
            "verdict is known, and both rates are printed; status 6: it could not be evaluated.",
        },
        {
          run: async () => (await import("./judge-run.ts")).judgeRunCommand,
          check: async () => (await import("./judge-check.ts")).judgeCheckCommand,
          agree: async () => (await import("./judge-check.ts")).judgeAgreeCommand,
        },
      ),
      command(
        "reproduce",
        "run a recipe's claims over seeds, beside the paper's numbers",
        () => import("./reproduce.ts"),
      ),
    ],
  },
  {
    title: "Looking",
    commands: [
      command(
        "report",
        "runs, evaluations and syntheses as a page or file",
        () => import("./report.ts"),
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
          list: async () => (await import("./runs-list.ts")).runsList,
          show: async () => (await import("./runs-show.ts")).runsShow,
          report: async () => (await import("./report.ts")).makeReportCommand("run"),
        },
      ),
      family(
        "trace",
        {
          summary: "check and read trajectories",
          description: "Trajectories of runs, evaluations and syntheses: check them, read them.",
        },
        {
          lint: async () => (await import("./trace-lint.ts")).traceLint,
          show: async () => (await import("./trace-show.ts")).traceShow,
        },
      ),
      family(
        "recipes",
        {
          summary: "list, show, plan, check and export recipes",
          description: "Recipes: one YAML file per published method, in three sizes (tiers).",
        },
        {
          list: async () => (await import("./recipes-list.ts")).recipesList,
          needs: async () => (await import("./recipes-needs.ts")).recipesNeeds,
          show: async () => (await import("./recipes-show.ts")).recipesShow,
          plan: async () => (await import("./recipes-plan.ts")).recipesPlan,
          check: async () => (await import("./recipes-check.ts")).recipesCheck,
          export: async () => (await import("./recipes-export.ts")).recipesExport,
        },
      ),
      family(
        "reward",
        {
          summary: "check that rewards score known answers as they declare",
          description: "Rewards: what a policy is trained for.",
        },
        { check: async () => (await import("./reward.ts")).rewardCheckCommand },
      ),
      command("doctor", "check this machine", () => import("./doctor.ts")),
    ],
  },
  {
    title: "Your own parts and shell",
    commands: [
      command(
        "new",
        "write a part of your own to start from, with its recipe and test",
        () => import("./new.ts"),
      ),
      command(
        "completion",
        "shell completion: bash, zsh, fish, powershell",
        () => import("./completion.ts"),
      ),
    ],
  },
];
