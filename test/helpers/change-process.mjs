// Changes an index in a process of its own, with what is built: it can be killed, or given too little disk.
//
//   node change-process.mjs '{"operation": "build"|"add"|"delete"|"compact", "out": IDX, "corpus": FILE, "ids": […]}'
//
// Prints "begin" when all is loaded, then "done" or the code and message of what was thrown.
import { readFileSync } from "node:fs";
import { buildIndex } from "../../dist/retrieval/bm25/build-index.js";
import {
  addToIndex,
  compactIndex,
  deleteFromIndex,
} from "../../dist/retrieval/bm25/change-index.js";

const { operation, out, corpus, ids, threads = 1 } = JSON.parse(process.argv[2]);
const passages =
  corpus === undefined
    ? []
    : readFileSync(corpus, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
console.log("begin");
try {
  if (operation === "build") await buildIndex(passages, out, { overwrite: true, threads });
  else if (operation === "add") await addToIndex(out, passages, { threads });
  else if (operation === "delete") await deleteFromIndex(out, ids);
  else await compactIndex(out);
  console.log("done");
} catch (error) {
  console.log(`${error.code ?? error.name} ${error.message}`);
  process.exitCode = 4;
}
