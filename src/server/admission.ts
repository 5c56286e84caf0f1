/** Why a request gets no room, or no more of it. */
export type Refusal = "full" | "too-large";

/** One request's room, from its arrival until its reply is sent or given up. */
export interface Place {
  /**
   * Asks for room for more bytes of body or reply.
   * @returns null when they fit, "too-large" when they would not even if the request were alone.
   */
  hold(bytes: number): Refusal | null;
  /** Gives all of it back; calling it again does nothing. */
  leave(): void;
}

/** Bounds how many requests the server has taken in, and how much of them it holds. */
export interface Admission {
  /** Requests that have a place. */
  readonly inside: number;
  /** @param bytes that the body is said to have. */
  enter(bytes: number): Place | Refusal;
}

/** An empty room for `places` requests and `memoryLimit` bytes. */
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
