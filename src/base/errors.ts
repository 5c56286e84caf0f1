/**
 * Error classes say who must act, codes say what happened. Every code is listed here with one sentence;
 * `docs/errors.md` is generated from this table and a test checks that each code can be reached.
 *
 * A message reads: where → what was found → what is allowed → what to do.
 */
export const ERROR_CODES = {
  ADAPTER_UNSUPPORTED:
    "An adapter_config.json asks for a kind of adapter, or an option of one, that is not computed here.",
  BUDGETS_UNFIT: "Settings of a recipe do not go together, so that nothing could be learned.",
  CHAT_TEMPLATE_BAD: "A chat template does not parse, or fails on messages that it should take.",
  CHAT_TEMPLATE_MISSING: "A model has no chat template, or none of the name that was given.",
  CHAT_TEMPLATE_REFUSED: "A chat template says itself that it does not take such messages.",
  CHAT_TEMPLATE_REWRITES:
    "A chat template writes earlier turns otherwise when later ones follow, so that what was sampled is not what is trained on.",
  COMPARE_METRIC: "Runs were to be compared by a metric that not all of them measured.",
  COMPARE_ROW: "A row of a run to be compared lacks its id, stands twice, or holds something odd.",
  COMPARE_UNLIKE: "Runs to be compared were measured under unlike protocols.",
  COMPARE_UNMATCHED: "Runs to be compared share no question, or mean different ones by an id.",
  COMPLETION_EMPTY: "A chat server gave a message without text and without a call.",
  COMPLETION_FILTERED: "A chat server's own filter withheld a message.",
  CORPUS_DUPLICATE_ID: "Two passages of a corpus share an id.",
  CORPUS_EMPTY: "A corpus holds no passages.",
  DATASET_ABSENT: "A dataset, or the passages that its questions need, is not on this machine.",
  DATASET_ARCHIVE:
    "An archive that a dataset came in is damaged, or lacks the file that was expected.",
  DATASET_CHECKSUM: "A dataset's file is not the one that is known or was promised.",
  DATASET_DISK_FULL: "A dataset would not fit on the disk where datasets are kept.",
  DATASET_NOT_TRAINABLE: "A test set that must stay out of training was to be trained on.",
  DATASET_REFUSED: "The server of a dataset does not have a file any more, or does not give it.",
  DATASET_UNEXPECTED: "A downloaded dataset has another size or layout than its card says.",
  DATASET_UNREACHABLE: "The server of a dataset cannot be reached, or cuts every connection.",
  DATA_BAD_RECORD:
    "A record of a data file lacks a key or holds a value that its layout does not allow.",
  DATA_CHECK_FAILED: "`agentrl data check` found something wrong.",
  DATA_EMPTY: "A data file holds no records.",
  DATA_ID_TWICE: "Two records of a data file share an id.",
  DATA_LAYOUT_UNKNOWN: "A data file's first record is of no layout that can be read.",
  ENCODER_BAD: "A folder or name that should be an embedding or reranking model is none.",
  ENCODER_LIBRARY_MISSING:
    "@huggingface/transformers, which runs embedding and reranking models, is not installed.",
  ENCODER_UNAVAILABLE: "A model is not here and the hub that has it cannot be reached.",
  ENGINE_NO_ROLE: "Log-probabilities were asked of a role under which no weights are kept.",
  ENGINE_OUT_OF_MEMORY: "There was no memory for what was asked of the engine.",
  ENGINE_STALLED: "A worker thread of the engine gave no sign of life in the time given.",
  ENGINE_STOPPED: "The engine's worker thread ended before it answered.",
  CHECKPOINT_MISFIT: "A checkpoint's tensors or tokenizer do not fit its config.json.",
  EVALUATION_GIVEN_UP: "So many rollouts in a row failed that an evaluation was given up.",
  EVALUATION_INCOMPLETE:
    "Rollouts of an evaluation failed, so that not every question was measured.",
  EVALUATION_EXISTS: "The folder for an evaluation already holds one, or one of another policy.",
  EXPORT_TOKENS: "Records to be exported hold token ids, and nobody says of which tokenizer.",
  FILE_MISSING: "A file that was named does not exist or cannot be read.",
  FILE_NOT_JSON: "A file that must hold one JSON value does not parse.",
  FILE_WRITE_FAILED: "A file could not be written: disk full, no permission, read-only folder.",
  GENERATION_CONFIG_BAD: "A generation_config.json holds a value that cannot be.",
  GRAPH_CHECKPOINT_LEAK:
    "What is computed twice to save memory reads, the second time, a value of the first.",
  GRAPH_MIXED: "An operator was given values of two graphs, or none.",
  GRAPH_NAME_TWICE: "Two inputs of one graph share a name.",
  GRAPH_NOT_CONSTANT: "A shape argument of an operator is not known when the graph is built.",
  GRAPH_NO_DERIVATIVE: "A gradient was asked for a value on which the loss does not depend.",
  HTTP_BAD_REPLY: "A server's reply is not JSON, not of the expected shape, or too large.",
  HTTP_CONTEXT_LENGTH:
    "A prompt, with what may follow it, is longer than the context of a server's model.",
  HTTP_CUT: "A server's reply began and ended in the middle.",
  HTTP_KEY_MISSING: "The environment variable that should hold a key is not set, or holds no key.",
  HTTP_STATUS: "A server refused a request or failed to answer it, by its status.",
  HTTP_TIMEOUT: "A server did not answer in the time given.",
  HTTP_UNREACHABLE: "A server cannot be connected to, or cut the connection before it answered.",
  HUB_CHECKSUM: "A file that was downloaded is not the one that the hub promised.",
  HUB_DENIED: "The hub wants a token, or the one given may not read a model.",
  HUB_DISK_FULL: "A model would not fit on the disk that holds the cache.",
  HUB_GATED: "A model on the hub is given only to those who have accepted its terms.",
  HUB_NOT_A_MODEL: "A repository on the hub does not hold what a model needs.",
  HUB_NOT_FOUND: "The hub has no such model, or no such revision of it.",
  HUB_OFFLINE: "A model is not in the cache, and HF_HUB_OFFLINE forbids asking for it.",
  HUB_UNREACHABLE: "The hub cannot be reached, or cuts every connection.",
  HNSW_MISSING: "hnswlib-node, which searches vectors by a graph, was not built on this machine.",
  INDEX_ANALYZER: "An index was made by an analyzer that this version does not have.",
  INDEX_BUSY: "Another process is changing an index.",
  INDEX_CHECK_FAILED: "An index is complete but does not give the results that its corpus should.",
  INDEX_CORRUPT: "A file of an index is missing, cut or changed.",
  INDEX_DRAFT: "An interrupted build is there, or the one to be resumed is of something else.",
  INDEX_ENCODER: "An index was made by another model than the one that was found.",
  INDEX_EXISTS: "The folder for a new index is already there.",
  INDEX_MISSING: "A folder that was named as an index holds none.",
  INDEX_TOO_LARGE: "An index would not fit into the memory or on the disk that it may take.",
  INDEX_VERSION: "An index has a format that this version does not read.",
  INDEX_WOULD_BE_EMPTY: "Every passage of an index was to be deleted.",
  INDEX_WORKER_STOPPED: "A thread that analyses passages for an index ended before it was done.",
  JUDGE_UNCALIBRATED:
    "A judge is wrong too often about answers that are known to be right or wrong.",
  JUDGE_UNPARSABLE: "Too many verdicts of a judge could not be read.",
  JUDGE_UNREACHABLE: "A judge's server does not answer, so answers were not evaluated.",
  JSONL_BAD_LINE: "A line of a JSON-lines file does not parse.",
  LOSS_FIELD_MISSING: "A row to learn from lacks numbers that its loss reads.",
  MODEL_NAME: "What was named as a model is neither a folder nor a name on the hub.",
  MODEL_CONFIG_UNSUPPORTED:
    "A config.json asks for an architecture or option that this decoder does not have.",
  PART_TWICE: "Two parts of one kind share a name.",
  PASSAGE_TOO_LONG: "One term occurs more often in a passage than an index can count.",
  PREDICTIONS_EMPTY: "A predictions or references file holds no records.",
  PAIRS_UNUSABLE: "A file of preference pairs has none that can be trained on.",
  PREDICTIONS_FIELD: "A record to be scored lacks a field, or holds something else there.",
  PREDICTIONS_UNMATCHED: "A prediction has an id that the references lack, or an id stands twice.",
  QRELS_BAD_LINE: "A line of a queries or relevance file is not in BEIR's or TREC's layout.",
  QRELS_UNMATCHED: "No query has relevance judgements.",
  PLAN_MODEL_ABSENT:
    "The shape of a model on the hub is not known here, so nothing can be planned of it.",
  PLAN_OVER_BUDGET: "What a recipe asks for is forecast to take more memory than there is.",
  RECIPE_BAD_VALUE: "A recipe value or flag has the wrong type or lies outside its range.",
  RECIPE_UNKNOWN_KEY: "A recipe, flag or file names a key that nothing owns.",
  RECIPE_MISSING: "No shipped recipe has that name, or the recipe file does not exist.",
  RECIPE_NOT_YAML: "A recipe file, or the value of --set key= or --retriever, is not YAML.",
  PLUGIN_BAD_PART: "A plugin exports something that is no part, or a part whose name is taken.",
  PLUGIN_FAILED: "A plugin could not be loaded, or one of its parts threw an error.",
  PLUGIN_NOT_FOUND: "A recipe or flag names a plugin whose file or package is not there.",
  PART_UNKNOWN: "A recipe or flag names a part that is not registered.",
  STRATEGY_UNFIT:
    "A strategy needs something that the environment does not have, such as searching.",
  TOOL_TWICE: "Two tools of an environment have one name.",
  STRATEGY_NEEDS_LOGPROBS:
    "A strategy or scorer goes by how likely texts are to the policy, which cannot tell it.",
  TINY_WORLD_TOO_SMALL: "A tiny world has no question of a kind that was asked for.",
  RUNTIME_MISSING: "The native runtime (onnxruntime-node) does not load on this machine.",
  LOSS_READS_UNDECLARED:
    "A loss reads an output of the model that its `reads` does not name, so that it is not computed.",
  MACHINE_UNFIT: "`agentrl doctor` found something missing on this machine.",
  USAGE:
    "The command line does not say what to do: unknown command or option, missing argument, bad value.",
  REPLAY_NO_BATCH:
    "The batch of a step that was to be replayed is missing from the run's folder, or damaged.",
  RESULTS_BAD: "A results file is not what `agentrl eval` or `agentrl synth-data` writes.",
  RESULTS_TWICE: "One evaluation's results were named twice for a report.",
  REWARD_CHECK_FAILED:
    "A reward does not score known answers as it declares, or the combined reward pays most for not answering.",
  REWARD_FAILED: "A reward threw an error, or returned something that is not a reward.",
  RUN_BAD_LINE: "A line of a TREC run is not of its six columns, or names a passage twice.",
  RUN_ID_BLANK: "An id that would stand in a TREC run is empty or holds a blank.",
  RUN_UNMATCHED: "A TREC run ranks none of the queries that are judged.",
  SYNTHESIS_EXISTS:
    "The folder for a synthesis already holds draws, or draws under other settings.",
  SYNTHESIS_GIVEN_UP: "So many rollouts in a row failed that a synthesis was given up.",
  SYNTHESIS_INCOMPLETE: "Rollouts of a synthesis failed, so that some draws are missing.",
  SYNTHESIS_UNLIKE: "Rows of a synthesis that were drawn again came out otherwise.",
  SCORE_MISSED: "A score required with --require was missed.",
  SCORE_UNAVAILABLE:
    "A required score could not be computed: nothing to evaluate, or its judge is down.",
  SEARCH_FAULT: "A faulty control retriever failed a search on purpose.",
  SEARCH_NOT_RECORDED: "A replayed recording does not hold the search that was asked for.",
  ROLLOUTS_FAILED: "All rollouts of a training's step failed: what answers, or a tool, is down.",
  RUN_ALARM: "An alarm on a run's metrics ended it.",
  RUN_EXISTS: "The folder for a new run already holds one.",
  RUN_SETTINGS_CHANGED: "A run was resumed under other settings than it began with.",
  RUN_BUSY: "Another process is writing the folder of a run.",
  RUN_FOLDER_GONE: "The folder of a run was removed or moved away while it was written.",
  RUN_NOTHING_LEFT: "A run was resumed whose last step is done.",
  RUN_DATA_CHANGED: "A run was resumed from another policy or on other data than it began with.",
  SAMPLES_UNUSABLE: "A file of samples has none that can be learned from.",
  SAMPLE_TOKENS_FOREIGN:
    "A sample's token ids are another tokenizer's than that of the policy which is to learn from it.",
  SAMPLE_TOO_LONG:
    "A sample is longer than the policy can read, and the recipe says not to leave it out.",
  DEVICE_MISSING: "A device was named that does not work on this machine.",
  DISK_STALLED: "A disk or network file system did not answer in the time given.",
  RUNTIME_FAILED: "onnxruntime refused a graph or failed while running it.",
  SAFETENSORS_BAD: "A safetensors file is cut, damaged, or of a type that is not read.",
  WEIGHT_TOO_LARGE:
    "A weight is beyond what the type can hold that frozen weights are to be held in.",
  SETTING_IGNORED: "A recipe or flag sets what the rest of the settings switches off.",
  SERVER_ADDRESS:
    "A server cannot listen where it was told to: port taken, address not this machine's.",
  SERVER_TOKEN: "The environment variable that should hold a server's token is unset or empty.",
  SERVER_UNPROTECTED: "A server was to be reachable from other machines without a token.",
  SERVER_INDEX_CHANGED: "A retrieval server changed its index while a run used it.",
  SHAPE_BROADCAST: "Two tensor shapes do not broadcast.",
  SHAPE_MATMUL: "The inner axes of a matrix product differ.",
  SHAPE_RESHAPE: "A tensor was reshaped to another number of elements.",
  TOKENIZER_BAD: "A tokenizer.json cannot be read.",
  POLICY_IS_RUN: "A run was named where a policy that it holds is meant.",
  PROMPT_TOO_LONG: "A prompt leaves no room in the context.",
  PROXY_BAD: "A variable of the environment names a proxy that cannot be used.",
  TEACHER_CANNOT_PLAY:
    "A strategy asks with prompts of its own of a teacher that has no model to answer them.",
  TEACHER_GAVE_UP:
    "A teacher without a model could not find what the answer needs; recorded on the trajectory.",
  TOOL_MISSING: "An environment was asked for a tool that it does not have.",
  TRACE_NOT_FOUND: "A file of trajectories holds none of the id or number that was asked for.",
  TRACE_VIOLATIONS: "`agentrl trace lint` found trajectories that do not hold together.",
  TOOL_FAILED: "A tool failed during a rollout; recorded on the trajectory.",
  TOOL_TIMEOUT: "A tool did not answer in the time given; recorded on the trajectory.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

interface ErrorOptions {
  /** The original failure, kept for `--debug`. */
  cause?: unknown;
}

/** A failure that says who must act (the class) and what happened (the code). */
export abstract class AgentrlError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** Edit the recipe or the flags. Exit code 2. */
export class ConfigError extends AgentrlError {}

/** Fix a file. Exit code 3. */
export class DataError extends AgentrlError {}

/** Fix a graph: shapes of an operation do not agree. Exit code 1: graphs are ours. */
export class ShapeError extends AgentrlError {}

/** One rollout failed; it is recorded on its trajectory and the run goes on. */
export class RolloutError extends AgentrlError {}

/** Disk, network or runtime failed. Exit code 4. */
export class ExternalError extends AgentrlError {}

/** The work is done, its score falls short: SCORE_MISSED (exit code 5), or it could not be evaluated (every other code: exit code 6). */
export class ScoreError extends AgentrlError {}

/** A bug of ours. Exit code 1. */
export class InternalError extends AgentrlError {}

const CLASSES = {
  ConfigError,
  DataError,
  ShapeError,
  RolloutError,
  ExternalError,
  ScoreError,
  InternalError,
};

/** What of an error survives the way between threads. */
export interface SentError {
  message: string;
  stack: string;
  /** Class and code of an error of ours. */
  own: { name: keyof typeof CLASSES; code: ErrorCode } | null;
}

/** An error as it is sent to another thread. */
export function sendError(error: unknown): SentError {
  const {
    message,
    stack = message,
    name,
  } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof AgentrlError) || !(name in CLASSES)) return { message, stack, own: null };
  return { message, stack, own: { name: name as keyof typeof CLASSES, code: error.code } };
}

/** The error that was sent, of its own class again, with the sender's stack; null when it was none of ours. */
export function receiveError({ message, stack, own }: SentError): AgentrlError | null {
  if (own === null) return null;
  const error = new CLASSES[own.name](own.code, message);
  error.stack = stack;
  return error;
}

/** Short text of any thrown value, for a message or a log line. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
