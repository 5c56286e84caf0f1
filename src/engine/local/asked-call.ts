import type { WorkerCalls, WorkerRequest } from "./messages.ts";

/** What a worker was asked for, in words: its call, and how much of it. */
export function askedCall({ call, argument }: Pick<WorkerRequest, "call" | "argument">): string {
  const size = SIZES[call]?.(argument as never);
  return size === undefined ? call : `${call} (${size})`;
}

const batches = ({
  batches: all,
}: Pick<WorkerCalls["logprobs"][0], "batches">): string | undefined => {
  const largest = all.toSorted((a, b) => b.batch * b.length - a.batch * a.length)[0];
  if (largest === undefined) return undefined;
  const { batch, length, scored } = largest;
  const count = all.length === 1 ? "a micro-batch" : `${all.length} micro-batches, the largest`;
  return `${count} of ${batch} × ${length} positions, ${scored} of them scored`;
};

const SIZES: { [K in keyof WorkerCalls]?: (argument: WorkerCalls[K][0]) => string | undefined } = {
  forwardBackward: batches,
  logprobs: batches,
  start: ({ base, slots, device }) => `${base} on ${device}, ${slots} slots`,
  sample: ({ promptIds, maxTokens }) =>
    `${promptIds.length} tokens, at most ${maxTokens} more to be written`,
};
