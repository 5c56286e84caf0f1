import type { Device } from "../../onnx/device.ts";
import type { Session } from "../../onnx/session.ts";

/** Signs of life of a worker thread, in memory that the main thread reads: a thread that computes cannot answer it. */
export interface Heartbeat {
  readonly beats: Int32Array;
}

/** What is given to a worker thread when it is started. */
export interface WorkerData {
  heartbeat: Heartbeat;
}

export function heartbeat(): Heartbeat {
  return { beats: new Int32Array(new SharedArrayBuffer(4)) };
}

/** How often the other thread has shown life so far, as a number that changes with it. */
export function beatsOf({ beats }: Heartbeat): number {
  return Atomics.load(beats, 0);
}

/** A device whose every graph shows life when it has been compiled, and after each run: a micro-batch, a token of all sequences. */
export function beatingDevice(device: Device, { beats }: Heartbeat): Device {
  const beat = (): void => void Atomics.add(beats, 0, 1);
  return {
    ...device,
    async compile(graph, outputs) {
      const session: Session = await device.compile(graph, outputs);
      beat();
      return {
        ...session,
        async run(feeds, fetches) {
          const results = await session.run(feeds, fetches);
          beat();
          return results;
        },
      };
    },
  };
}
