import type { CliCommand } from "../command.ts";
import { registerBench } from "./index/bench.ts";
import { registerBuild } from "./index/build.ts";
import { registerAdd, registerCompact, registerDelete } from "./index/change.ts";
import { registerCheck } from "./index/check.ts";
import { registerPlan } from "./index/plan.ts";
import { registerSearch } from "./index/search.ts";

/** `agentrl index …`: search indexes in folders, BM25 or dense. */
export const indexCommand: CliCommand = {
  name: "index",
  register(program, context) {
    const index = program
      .command("index")
      .summary("build, change, search and measure search indexes")
      .description(
        "Search indexes in folders: exact BM25 over a corpus, or text embeddings by --encoder.",
      );
    registerPlan(index, context);
    registerBuild(index, context);
    registerAdd(index, context);
    registerDelete(index, context);
    registerCompact(index, context);
    registerSearch(index, context);
    registerCheck(index, context);
    registerBench(index, context);
  },
};
