import { capacityFor, pieces } from "../../engine/local/cached-steps.ts";
import type { TrajectoryShape } from "./trajectory-shape.ts";

/** Seconds that sampling takes on a machine, by what it does. */
export interface SamplingSpeed {
  /** One token for every slot of a worker, at a length of the cache: `base + perPosition × length`. */
  step: { base: number; perPosition: number };
  /** Tokens of a prompt or an observation in one run: `base + perToken × tokens`. */
  fill: { base: number; perToken: number };
  /** A graph before its first run. */
  compile: number;
  /** What real rollouts took, as a multiple of all this. */
  factor: number;
}

/** How trajectories are sampled together. */
export interface SamplingSetting {
  workers: number;
  slots: number;
  /** Trajectories under way together, at most. */
  window: number;
}

/** What is already there: length of the cache, and sampling graphs that are compiled. */
export interface SamplingState {
  capacity: number;
  graphs: Set<string>;
}

/** A sampler that has just started. */
export function freshSampling(): SamplingState {
  return { capacity: capacityFor(1), graphs: new Set() };
}

/** A sampler after `measureSampling`. */
export function measuredSampling(): SamplingState {
  return { capacity: 128, graphs: new Set(["step 128", "fill 16 128", "fill 128 128"]) };
}

/** As the engine: sizes in which prompts are computed. */
const CHUNKS = [16, 32, 64, 128] as const;

/**
 * Seconds in which an engine samples trajectories that are all asked for at once: each worker's continuously batched steps are gone
 * through one by one.
 * @param state of each worker alike; changed.
 */
export function samplingSeconds(
  shapes: readonly TrajectoryShape[],
  speed: SamplingSpeed,
  setting: SamplingSetting,
  state: SamplingState,
): number {
  const { workers } = setting;
  const slots = Math.max(1, Math.min(setting.slots, Math.ceil(setting.window / workers)));
  const before = { ...state, graphs: new Set(state.graphs) };
  const seconds = Array.from({ length: workers }, (_, w) => {
    const own = { ...before, graphs: new Set(before.graphs) };
    const dealt = shapes.filter((_, i) => i % workers === w);
    const taken = workerSeconds(dealt, slots, speed, own);
    state.capacity = Math.max(state.capacity, own.capacity);
    for (const graph of own.graphs) state.graphs.add(graph);
    return taken;
  });
  return speed.factor * Math.max(0, ...seconds);
}

/** A trajectory in a slot. */
interface Seat {
  shape: TrajectoryShape;
  call: number;
  /** Tokens of the message that are still to be written. */
  left: number;
  /** Tokens in the cache. */
  held: number;
}

function workerSeconds(
  shapes: readonly TrajectoryShape[],
  slots: number,
  speed: SamplingSpeed,
  state: SamplingState,
): number {
  let seconds = 0;
  const begun = new Set<string>();
  const waiting = shapes.filter(({ calls }) => calls.length > 0);
  const seats: Seat[] = [];
  const compiled = (key: string): void => {
    if (state.graphs.has(key)) return;
    state.graphs.add(key);
    seconds += speed.compile;
  };
  const open = (seat: Seat): void => {
    const call = seat.shape.calls[seat.call];
    if (call === undefined) return;
    const { read, written, anew } = call;
    seat.left = written;
    const isShared = seat.call === 0 && begun.has(seat.shape.group);
    if (seat.call === 0) begun.add(seat.shape.group);
    seat.held = (anew ? 0 : seat.held) + read;
    state.capacity = Math.max(state.capacity, capacityFor(seat.held + written));
    if (isShared) return;
    for (const { ids } of pieces(new Array<number>(read).fill(0), 0, CHUNKS)) {
      compiled(`fill ${ids.length} ${state.capacity}`);
      seconds += speed.fill.base + speed.fill.perToken * ids.length;
    }
  };
  while (waiting.length > 0 || seats.length > 0) {
    while (seats.length < slots) {
      const shape = waiting.shift();
      if (shape === undefined) break;
      const seat = { shape, call: 0, left: 0, held: 0 };
      open(seat);
      seats.push(seat);
    }
    // Until the first of them has written its message.
    const steps = Math.max(1, Math.min(...seats.map(({ left }) => left)));
    compiled(`step ${state.capacity}`);
    seconds += steps * (speed.step.base + speed.step.perPosition * state.capacity);
    for (const seat of seats) {
      seat.left -= steps;
      seat.held += steps;
    }
    for (const seat of seats.filter(({ left }) => left <= 0)) {
      seat.call += 1;
      if (seat.call < seat.shape.calls.length) open(seat);
      else seats.splice(seats.indexOf(seat), 1);
    }
  }
  return seconds;
}
