// What is run, in order of worth: where time runs out, the last ones are missing.

/**
 * Jobs, each a list of attempts: the next is made when one fails, with less to hold in memory.
 * @param only beginnings of names; all jobs when absent.
 * @param slow whether the device is a software one: the check is then shorter.
 * @param device of the engine; PyTorch runs on the same card.
 */
export function plan({ device, model, folder, work, seconds, python, only, slow }) {
  const { rows } = work.training;
  const common = { device, model, folder, work, seconds };
  const sizes = rows === 1 ? [1] : [rows, 1];
  const training = (mode, recompute, on = device) => ({
    name: `${on === device ? "" : `${on}-`}train-${mode}${recompute ? "-recompute" : ""}`,
    attempts: sizes.map((microBatchRows) => {
      return { ...common, measure: "train", mode, recompute, device: on, microBatchRows };
    }),
  });
  const single = (name, more = {}) => ({ name, attempts: [{ ...common, measure: name, ...more }] });
  const jobs = [
    single("check", { slow }),
    training("full", true),
    single("sample"),
    training("lora", true),
    training("full", false),
    {
      name: "pytorch",
      python,
      attempts: [{ ...common, device: device === "cpu" ? "cpu" : "cuda", microBatchRows: sizes }],
    },
    training("lora", false),
    single("steps", { seconds: seconds / 5 }),
    // What it costs that the CUDA provider gives its outputs back to the host at every run.
    ...(device === "webgpu" ? [training("full", true, "cuda")] : []),
  ];
  return jobs.filter(({ name }) => only?.some((each) => name.startsWith(each)) ?? true);
}
