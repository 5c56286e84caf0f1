/** Reason for a rejection. */
export type Refusal = "full" | "too-large";

/** One request's reservation, from its arrival until its reply is sent or aborted. */
export interface Place {
  /**
   * Reserves memory for more bytes of body or reply.
   * @returns null when they fit, "too-large" when they would not fit even without other requests.
   */
  hold(bytes: number): Refusal | null;
  /** Releases the reservation; further calls do nothing. */
  leave(): void;
}

/** Limits the number of accepted requests and their memory. */
export interface Admission {
  /** Number of accepted requests. */
  readonly inside: number;
  /** @param bytes announced size of the body. */
  enter(bytes: number): Place | Refusal;
}

/** An admission for `places` requests and `memoryLimit` bytes. */
export function admission(places: number, memoryLimit: number): Admission {
  let inside = 0;
  let total = 0;
  return {
    get inside() {
      return inside;
    },
    enter(bytes) {
      if (inside >= places) return "full";
      let held: number | null = 0;
      const place: Place = {
        hold(more) {
          if (held === null) return "full";
          if (held + more > memoryLimit) return "too-large";
          if (total + more > memoryLimit) return "full";
          held += more;
          total += more;
          return null;
        },
        leave() {
          if (held === null) return;
          total -= held;
          inside -= 1;
          held = null;
        },
      };
      inside += 1;
      const refusal = place.hold(bytes);
      if (refusal === null) return place;
      place.leave();
      return refusal;
    },
  };
}
