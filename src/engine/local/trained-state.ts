import { adamRoom } from "../../autodiff/adam-loops.ts";
import { adamFactors, type AdamOptions } from "../../autodiff/adamw.ts";
import type { OptimizerState, SharedTraining, TrainingState } from "./messages.ts";
import type { WorkerLink } from "./worker-link.ts";

/** Trained weights with their optimizer state, in shared memory or in a worker. */
export interface TrainedState {
  optimStep(adam: AdamOptions): Promise<{ gradNorm: number }>;
  read(): Promise<TrainingState>;
  /** @param optimizer null resets it. */
  write(weights: Float32Array, optimizer: OptimizerState | null): Promise<void>;
}

/** Arrays in memory that worker threads share. @param size number of trained numbers. */
export function sharedTraining(size: number, workers: number): SharedTraining {
  const { memory, arrays } = adamRoom(new Array<number>(3 + workers).fill(size), { shared: true });
  const [weights, mean, square, ...gradients] = arrays as readonly [
    ...[Float32Array, Float32Array, Float32Array],
    ...Float32Array[],
  ];
  return { memory, weights, mean, square, gradients };
}

/** Replicas in worker threads: each updates its range of the shared arrays, then copies all of them. */
export function stateOverWorkers(
  links: readonly WorkerLink[],
  shared: SharedTraining,
): TrainedState {
  let step = 0;
  const takeWeights = async (): Promise<void> => {
    await Promise.all(links.map((link) => link.call("takeWeights", null)));
  };
  return {
    async optimStep(adam) {
      step += 1;
      await Promise.all(links.map((link) => link.call("shareGradients", null)));
      const squares = await Promise.all(links.map((link) => link.call("sumGradients", null)));
      const gradNorm = Math.sqrt(squares.reduce((sum, each) => sum + each));
      const factors = adamFactors(adam, step, gradNorm);
      await Promise.all(links.map((link) => link.call("stepPart", factors)));
      await takeWeights();
      return { gradNorm };
    },
    read: () => {
      const { weights, mean, square } = shared;
      return Promise.resolve({ weights, optimizer: { mean, square, step } });
    },
    async write(weights, optimizer) {
      step = optimizer?.step ?? 0;
      for (const kind of ["mean", "square"] as const) {
        if (optimizer === null) shared[kind].fill(0);
        else shared[kind].set(optimizer[kind]);
      }
      shared.weights.set(weights);
      await takeWeights();
    },
  };
}

/** A single replica, whose state stays in its worker and is sent only for saving and loading. */
export function stateInWorker(link: WorkerLink): TrainedState {
  return {
    optimStep: (adam) => link.call("optimStep", adam),
    read: () => link.call("readState", null),
    write: async (weights, optimizer) => {
      await link.call("writeState", { weights, optimizer });
    },
  };
}

/** Makes `read` fail after a failed step, until a whole state is written: the state may mix old and new weights. */
export function refuseAfterFailedStep(state: TrainedState): TrainedState {
  let broken: { by: unknown } | null = null;
  return {
    async optimStep(adam) {
      try {
        return await state.optimStep(adam);
      } catch (error) {
        broken = { by: error };
        throw error;
      }
    },
    async read() {
      if (broken !== null) throw broken.by;
      return state.read();
    },
    async write(weights, optimizer) {
      await state.write(weights, optimizer);
      broken = null;
    },
  };
}
