import type { Device } from "../../onnx/device.ts";
import type { Session } from "../../onnx/session.ts";

/** A worker thread's heartbeat in shared memory, because a computing thread cannot answer messages. */
export type Heartbeat = { readonly beats: Int32Array };

/** Data for a new worker thread. */
export type WorkerData = { heartbeat: Heartbeat };

export function heartbeat(): Heartbeat {
  return { beats: new Int32Array(new SharedArrayBuffer(4)) };
}

/** The number of heartbeats so far. */
export function beatsOf({ beats }: Heartbeat): number {
  return Atomics.load(beats, 0);
}

/** A device that sends a heartbeat after each compiled graph and after each run (a micro-batch, or a token of all sequences). */
export function beatingDevice(device: Device, { beats }: Heartbeat): Device {
  const beat = (): void => void Atomics.add(beats, 0, 1);
  return {
    ...device,
    async compile(graph, outputs, options) {
      const session: Session = await device.compile(graph, outputs, options);
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
