import { choice, z } from "./schema.ts";

/**
 * A number that changes during a run: `from` at `start`, `to` at `end` (fractions of the run, or steps from 0), constant outside.
 * `warmup` raises it linearly from 0: step i of w uses (i + 1) / w of it. A ramp begins no earlier than the warm-up's last step. Step i is
 * step i + 1 of transformers' schedules with warm-up, which begin with 0 and do not reach their end.
 */
export type Schedule =
  | ({ schedule: "constant"; value: number; warmup: number } & Positions)
  | ({ schedule: "linear" | "cosine"; warmup: number } & Ramp)
  | ({ schedule: "exponential"; base: number } & Ramp)
  | ({ schedule: "steps"; values: { at: number; value: number }[] } & Positions);

interface Positions {
  unit: "fraction" | "steps";
  /** Every value is rounded: always so where the option is a whole number. */
  round?: true | undefined;
}

interface Ramp extends Positions {
  from: number;
  to: number;
  start: number;
  end?: number | undefined;
}

/** One number, or a schedule over the run. */
export type Scheduled = number | Schedule;

/**
 * The schema of an option that may be a schedule, whose numbers satisfy `value` too.
 * @example scheduled(z.number().min(0)) // accepts 0.1 and { schedule: linear, from: 0.1, to: 0 }
 */
export function scheduled(value: z.ZodType<number>): z.ZodType<Scheduled> {
  const schedule = scheduleSchema(value);
  return choice<Scheduled>((given) => {
    const isSchedule = typeof given === "object" && given !== null;
    return { schema: isSchedule ? schedule : value, value: given };
  });
}

/** The options of a part, each number of which may be a schedule; `resolveSchedules` gives the part numbers. */
export function schedulable(shape: z.ZodRawShape): z.ZodRawShape {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => {
      const given = field as z.ZodType;
      const open = given.meta()?.["fixed"] === true ? null : numberOrSchedule(given);
      return [key, open?.meta(given.meta() ?? {}) ?? given];
    }),
  );
}

/** An option that no schedule may change over a run, such as the number of its steps. Call it on the finished schema. */
export function fixed<S extends z.ZodType>(schema: S): S {
  return schema.meta({ fixed: true });
}

/** @returns null for an option that is no number. */
function numberOrSchedule(field: unknown): z.ZodType | null {
  if (field instanceof z.ZodNumber) return scheduled(field);
  if (field instanceof z.ZodOptional) return numberOrSchedule(field.unwrap())?.optional() ?? null;
  if (field instanceof z.ZodNullable) return numberOrSchedule(field.unwrap())?.nullable() ?? null;
  if (!(field instanceof z.ZodDefault)) return null;
  return numberOrSchedule(field.unwrap())?.default(field.def.defaultValue) ?? null;
}

/** Options with a number wherever a schedule stood. */
export type Resolved<T> = T extends Schedule
  ? number
  : T extends readonly (infer Each)[]
    ? Resolved<Each>[]
    : T extends object
      ? { [Key in keyof T]: Resolved<T[Key]> }
      : T;

/**
 * Puts the value of a step (from 0) in place of every schedule, at any depth: the one place where options of parts are resolved.
 * @example resolveSchedules({ weight: { schedule: "linear", from: 1, to: 0, … }, k: 3 }, 2, 5) // { weight: 0.5, k: 3 }
 */
export function resolveSchedules<T>(options: T, step: number, totalSteps: number): Resolved<T> {
  return resolved(options, step, totalSteps) as Resolved<T>;
}

function resolved(value: unknown, step: number, totalSteps: number): unknown {
  if (isSchedule(value)) return valueAt(value, step, totalSteps);
  if (Array.isArray(value)) return value.map((each) => resolved(each, step, totalSteps));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, each]) => [key, resolved(each, step, totalSteps)]));
}

function isSchedule(value: unknown): value is Schedule {
  return isPlainObject(value) && KINDS.some((kind) => kind === value["schedule"]);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * The value at one step, from 0.
 * @example valueAt({ schedule: "linear", from: 1, to: 0, start: 0, warmup: 0, unit: "fraction" }, 2, 5) // 0.5
 */
export function valueAt(scheduled: Scheduled, step: number, totalSteps: number): number {
  if (typeof scheduled === "number") return scheduled;
  const value = pointAt(scheduled, step, totalSteps);
  return scheduled.round === true ? Math.round(value) : value;
}

function pointAt(scheduled: Schedule, step: number, totalSteps: number): number {
  const lastStep = Math.max(totalSteps - 1, 1);
  const toSteps = scheduled.unit === "steps" ? 1 : lastStep;
  switch (scheduled.schedule) {
    case "constant":
      return warm(scheduled.value, scheduled.warmup * toSteps, step);
    case "linear":
    case "cosine": {
      const warmup = scheduled.warmup * toSteps;
      const along = ramp(scheduled, step, lastStep, warmup - 1);
      const isLinear = scheduled.schedule === "linear";
      const progress = isLinear ? along : (1 - Math.cos(Math.PI * along)) / 2;
      return warm(mix(scheduled, progress), warmup, step);
    }
    case "exponential": {
      // (bᵗ − 1) / (b − 1): ZeroSearch's curriculum, arXiv 2505.04588, section 3.4, with b = 4.
      const { base } = scheduled;
      return mix(scheduled, (base ** ramp(scheduled, step, lastStep) - 1) / (base - 1));
    }
    case "steps":
      return lastReached(scheduled.values, step / toSteps);
  }
}

const KINDS = ["constant", "linear", "cosine", "exponential", "steps"] as const;

function scheduleSchema(value: z.ZodType<number>): z.ZodType<Schedule> {
  const unit = z.enum(["fraction", "steps"]).default("fraction");
  const warmup = z.number().min(0).default(0);
  const isWhole = value instanceof z.ZodNumber && value.format?.includes("int") === true;
  const rounds = z.literal(true);
  const round: z.ZodType<true | undefined> = isWhole ? rounds.default(true) : rounds.optional();
  const ramp = {
    from: value,
    to: value,
    start: z.number().min(0).default(0),
    end: z.number().min(0).optional(),
    unit,
    round,
  };
  const kinds: Record<Schedule["schedule"], z.ZodType<Schedule>> = {
    constant: z.strictObject({ schedule: z.literal("constant"), value, warmup, unit, round }),
    linear: z.strictObject({ schedule: z.literal("linear"), ...ramp, warmup }),
    cosine: z.strictObject({ schedule: z.literal("cosine"), ...ramp, warmup }),
    exponential: z.strictObject({
      schedule: z.literal("exponential"),
      ...ramp,
      base: z.number().gt(1).default(4),
    }),
    steps: z.strictObject({
      schedule: z.literal("steps"),
      values: z
        .array(z.strictObject({ at: z.number().min(0), value }))
        .min(1)
        .refine(startsAtZeroAndRises, "the first `at` must be 0 and each later one larger"),
      unit,
      round,
    }),
  };
  const named = z.object({ schedule: z.enum(KINDS) });
  const unnamed = named.transform(() => z.NEVER);
  return choice<Schedule>((given) => {
    const kind = named.safeParse(given);
    return { schema: kind.success ? kinds[kind.data.schedule] : unnamed, value: given };
  });
}

function startsAtZeroAndRises(values: readonly { at: number }[]): boolean {
  return values.every(({ at }, i) => (i === 0 ? at === 0 : at > (values[i - 1]?.at ?? 0)));
}

/** Progress of the ramp, from 0 to 1, beginning no earlier than step `earliest`. A ramp with start = end is a jump. */
function ramp(schedule: Ramp, step: number, lastStep: number, earliest = 0): number {
  const toSteps = schedule.unit === "steps" ? 1 : lastStep;
  const start = Math.max(schedule.start * toSteps, earliest);
  const end = schedule.end === undefined ? lastStep : schedule.end * toSteps;
  if (step >= end) return 1;
  return step <= start ? 0 : (step - start) / (end - start);
}

function mix({ from, to }: Ramp, progress: number): number {
  return progress === 1 ? to : from + (to - from) * progress;
}

function warm(value: number, warmupSteps: number, step: number): number {
  return step + 1 >= warmupSteps ? value : (value * (step + 1)) / warmupSteps;
}

function lastReached(values: readonly { at: number; value: number }[], position: number): number {
  return (
    values.findLast(({ at }) => at <= position + 1e-9)?.value ?? values[0]?.value ?? Number.NaN
  );
}
