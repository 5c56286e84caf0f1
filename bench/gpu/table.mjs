// The result for people: what ran, then where the time goes.

export function tableOf(result) {
  const { cards, card, device, probe, shape, parameters, rows, machine } = result;
  const name =
    card === null
      ? cards.length === 0
        ? "no card that nvidia-smi knows"
        : "the processor"
      : `${card.name}, driver ${card.driver}, ${card.memoryMiB} MiB`;
  const peaks = card?.peaks;
  const lines = [
    `${result.date}, ${name}; ${machine.cpu}, Node ${machine.node}, onnxruntime ${machine.onnxruntime}`,
    peaks == null
      ? "peak unknown: no shares"
      : `peak ${peaks.float32} TFLOP/s float32, ${peaks.bf16 ?? "no"} bf16 (${peaks.source})`,
    `${device}: ${probe.works ? `multiplies matrices at ${probe.gflops.toPrecision(3)} GFLOP/s` : probe.why}`,
    `${shape}: ${(parameters / 1e6).toPrecision(4)} M parameters`,
    "",
    ...checks(rows),
    "",
    ...aligned([
      [
        ...["what", "rows", "tokens/s", "s/step", "fwd+bwd", "AdamW", "open", "build"],
        ...["crosses/step", "GPU MiB", "host MiB", "fp32 peak", "bf16 peak"],
      ],
      ...rows.filter(({ job, failed }) => job.includes("train-") && !failed).map(trainingCells),
      ...rows.filter(({ job, failed }) => job === "sample" && !failed).flatMap(samplingCells),
      ...rows.filter(({ job, failed }) => job === "pytorch" && !failed).flatMap(torchCells),
    ]),
    "",
    ...aligned([
      ["part", "ms", "session s", "first run s"],
      ...rows.filter(({ job, part }) => job === "steps" && part !== undefined).map(partCells),
    ]),
    "",
    ...rows.filter(({ failed, part }) => failed && part === undefined).map(failure),
    `${Math.round(result.seconds)} s in all.`,
  ];
  return lines.join("\n");
}

function checks(rows) {
  const found = rows.filter(({ job }) => job === "check");
  const failed = found.find((each) => each.failed);
  const results = found.filter(({ passed }) => passed !== undefined);
  const wrong = results.filter(({ passed }) => !passed);
  if (found.length === 0) return ["not checked against the processor (--only)"];
  const lines = results.map((each) => `  ${each.passed ? "ok   " : "WRONG"} ${checkText(each)}`);
  if (wrong.length > 0) {
    lines.unshift("WRONG: the device does not compute what the processor does; no figure counts.");
  } else if (failed !== undefined) lines.unshift("NOT CHECKED to the end, see below.");
  else lines.unshift("the device computes what the processor does:");
  return lines;
}

function checkText({ check, model, mode, recompute, gap, parameter, ...sampling }) {
  if (check === "gradients") {
    const how = `${mode}${recompute ? ", recomputed" : ""}`;
    return `gradients, ${model}, ${how}: off by ${power(gap)} of the norm at most (${parameter})`;
  }
  const { mismatch, fromProcessor, sameTokens } = sampling;
  return `sampling, ${model}: log-probabilities off by ${power(mismatch)} from its own scores, ${power(fromProcessor)} from the processor's; ${Math.round(100 * sameTokens)} % of the tokens are the processor's`;
}

/** JSON has no NaN. */
function power(value) {
  return Number.isFinite(value) ? value.toExponential(1) : "NaN";
}

function trainingCells(row) {
  const { crossing } = row;
  return [
    `${row.job} (${row.device})`,
    `${row.microBatchRows} × ${row.length}`,
    ...[row.tokensPerSecond, row.stepSeconds, row.forwardBackwardSeconds].map(short),
    ...[row.optimiserSeconds, row.openSeconds, row.buildSeconds].map(short),
    crossing === null ? "" : megabytes(crossing.toDevice + crossing.fromDevice),
    ...ends(row),
  ];
}

function samplingCells(row) {
  const { crossing, sequences } = row;
  const blank = ["", "", "", ""];
  const name = `sample (${row.device})`;
  const crosses = crossing === null ? "" : megabytes(crossing.toDevice + crossing.fromDevice);
  return [
    [
      ...[name, String(sequences), short(row.tokensPerSecond), short(row.stepSeconds), "", ""],
      ...[short(row.openSeconds), short(row.buildSeconds), crosses, ...ends(row)],
    ],
    [`  prompts of ${row.prompt}`, "", short(row.prefillTokensPerSecond), "", "", ...blank],
    ["  prompts and tokens", "", short(row.togetherTokensPerSecond), "", "", ...blank],
  ];
}

function torchCells(row) {
  const name = `pytorch ${row.kind} ${row.mode ?? ""} ${row.dtype}`.replace("  ", " ");
  const rate = short(row.tokensPerSecond);
  const build = row.buildSeconds === undefined ? "" : short(row.buildSeconds);
  const step = row.stepSeconds === undefined ? "" : short(row.stepSeconds);
  const memory = row.gpuPeakMiB == null ? {} : { gpuPeak: { mib: row.gpuPeakMiB } };
  const cells = [
    ...[name, String(row.microBatchRows ?? ""), rate, step, "", "", "", build, ""],
    ...ends({ ...row, ...memory }),
  ];
  if (row.prefillTokensPerSecond === undefined) return [cells];
  return [cells, ["  prompts", "", short(row.prefillTokensPerSecond)]];
}

/** Memory and shares of the peak. */
function ends({ gpuPeak, hostPeakMiB, share }) {
  const percent = (value) => (value == null ? "" : `${(100 * value).toFixed(1)} %`);
  return [
    gpuPeak?.mib === undefined ? "" : String(gpuPeak.mib),
    hostPeakMiB === undefined ? "" : String(hostPeakMiB),
    ...[percent(share?.float32), percent(share?.bf16)],
  ];
}

function partCells(row) {
  const of = [row.rows, row.length].filter(Boolean).join(" × ");
  const about = [of, row.sequences && `${row.sequences} sequences`, row.prompt && `${row.prompt}`];
  const cache = row.cache && `cache ${row.cache}`;
  const name = [row.part, ...about, cache].filter(Boolean).join(", ");
  if (row.failed !== undefined) return [name, `failed: ${row.failed.slice(0, 80)}`];
  if (row.seconds === undefined) {
    return [`${name}: read, moved`, "", short(row.readSeconds), short(row.moveSeconds)];
  }
  return [name, short(1000 * row.seconds), short(row.sessionSeconds), short(row.firstRunSeconds)];
}

function failure({ job, kind, mode, dtype, microBatchRows, failed }) {
  const of = [kind, mode, dtype, microBatchRows && `${microBatchRows} rows`].filter(Boolean);
  return `${[job, ...of].join(", ")}: ${failed.split("\n")[0].slice(0, 300)}`;
}

function short(value) {
  if (value >= 1000) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

function megabytes(bytes) {
  return `${Number((bytes / 1e6).toPrecision(3))} MB`;
}

function aligned(lines) {
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => (line[i] ?? "").length)));
  return lines.map((line) =>
    line
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join("  ")
      .trimEnd(),
  );
}
