import { describe, expect, it } from "vitest";
import { admission, type Place } from "../../src/server/admission.ts";

describe("admission", () => {
  it("has as many places as it was given", () => {
    const room = admission(2, 100);
    const first = room.enter(0) as Place;
    room.enter(0);
    expect([room.enter(0), room.inside]).toEqual(["full", 2]);
    first.leave();
    first.leave();
    expect(room.inside).toBe(1);
    expect(typeof room.enter(0)).toBe("object");
  });

  it("bounds what all places hold together", () => {
    const room = admission(5, 100);
    const first = room.enter(40) as Place;
    expect(room.enter(61)).toBe("full");
    expect(room.enter(101)).toBe("too-large");
    expect(room.inside).toBe(1);
    const second = room.enter(50) as Place;
    expect([second.hold(10), second.hold(1), second.hold(41)]).toEqual([null, "full", "too-large"]);
    first.leave();
    expect([second.hold(40), second.hold(1)]).toEqual([null, "too-large"]);
    second.leave();
    expect(second.hold(0)).toBe("full");
    expect((room.enter(100) as Place).hold(0)).toBeNull();
  });
});
