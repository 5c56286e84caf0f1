import { setMaxListeners } from "node:events";

/** Signals that abort controllers. */
export interface AbortLinks {
  /** @returns what takes the link away again. */
  link(signal: AbortSignal, controller: AbortController): () => void;
}

/**
 * One listener per signal, however many controllers follow it: a listener each costs as much as there are already, which is the square of
 * them for a run's signal. The listener stays; it holds nothing when the links are gone.
 */
export function abortLinks(): AbortLinks {
  const followers = new WeakMap<AbortSignal, Set<AbortController>>();
  return {
    link(signal, controller) {
      let all = followers.get(signal);
      if (all === undefined) {
        const made = new Set<AbortController>();
        followers.set(signal, (all = made));
        setMaxListeners(0, signal);
        const abort = (): void => {
          for (const each of made) each.abort(signal.reason);
        };
        signal.addEventListener("abort", abort, { once: true });
      }
      const added = all;
      added.add(controller);
      return () => {
        added.delete(controller);
      };
    },
  };
}
