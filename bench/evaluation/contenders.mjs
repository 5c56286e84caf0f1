// Who asks: each a program of its own that is told the endpoint, the questions and how many requests may be under way.
import { join } from "node:path";

const binary = join(import.meta.dirname, "../../bin/agentrl.js");
const script = (name) => join(import.meta.dirname, name);

/** `agentrl eval` as people run it: rows and trajectories are written, BM25 searches an index. */
const ours = {
  name: "agentrl",
  command: ({ url, file, index, concurrency, out }) => ({
    program: process.execPath,
    args: [
      ...[binary, "eval", "policy", "--policy", url, "--model", "instant", "--dataset", file],
      ...["--index", index, "--concurrency", String(concurrency), "--out", join(out, "run")],
      ...["--json", "--quiet"],
    ],
  }),
  questionsOf: ({ stdout }) => JSON.parse(stdout).n,
};

/** As many requests, each a question of its own, without turns or searches. */
const lmEval = {
  name: "lm-eval",
  command: ({ url, file, questions, searches, concurrency, out, python }) => ({
    program: python,
    args: [
      ...[script("lm_eval_player.py"), url, file, String(questions * (searches + 1))],
      ...[String(concurrency), out],
    ],
    env: { HF_HUB_OFFLINE: "1", TQDM_DISABLE: "1", LOGLEVEL: "ERROR" },
  }),
  questionsOf: ({ stdout }) => JSON.parse(stdout.trim().split("\n").at(-1)).questions,
};

export const contenders = [ours, lmEval];
