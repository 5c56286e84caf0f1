import type { CliCommand } from "../command.ts";
import { addDataCheck } from "./data/check.ts";
import { addDataConvert } from "./data/convert.ts";
import { addDataDownload } from "./data/download.ts";
import { addDataGenerate } from "./data/generate.ts";
import { addDataList } from "./data/list.ts";

/** `agentrl data generate|list|download|check|convert`: question files and corpora. */
export const dataCommand: CliCommand = {
  name: "data",
  register(program, context) {
    const data = program
      .command("data")
      .summary("make, fetch, check and convert datasets")
      .description(
        "Question files and corpora: the tiny world, published datasets, everybody's layouts.",
      );
    addDataGenerate(data, context);
    addDataList(data, context);
    addDataDownload(data, context);
    addDataCheck(data, context);
    addDataConvert(data, context);
  },
};
