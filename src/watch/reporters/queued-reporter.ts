import { z } from "../../base/schema.ts";
import { Delivery, type DeliveryOptions, type Teller } from "./delivery.ts";
import type { Reporter } from "./reporter.ts";

/** Options of every reporter: how much it keeps and how long a run's end waits for it. */
export const queueShape = {
  /** Things told that are kept while they cannot be delivered; above it the oldest steps are lost. */
  maxQueued: z.int().min(1).default(2000),
  /** Milliseconds that the end of a run waits for what is left to be delivered. */
  closeMs: z.int().min(0).default(10_000),
};

/** A reporter that puts what it is told into a queue, from which a teller delivers it in the background. */
export function queuedReporter(
  teller: Teller,
  { now = Date.now, ...options }: DeliveryOptions & { now?: () => number },
): Reporter {
  const delivery = new Delivery(teller, options);
  return {
    metrics(step, data, timing) {
      delivery.push({ kind: "step", at: now(), step, data, timing });
    },
    evaluation(name, step, scores) {
      delivery.push({ kind: "evaluation", at: now(), name, step, scores });
    },
    event(event) {
      delivery.push({ kind: "event", at: now(), event });
    },
    close(outcome) {
      delivery.push({ kind: "end", at: now(), outcome });
      return delivery.close();
    },
  };
}
