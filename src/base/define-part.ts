import { definedValues } from "./defined-values.ts";
import { type Members, requireDescribed } from "./part-members.ts";
import { type Part, PART_KINDS, type PartKind } from "./registry.ts";
import { parseOptions, z } from "./schema.ts";

/** A call of a part's function, for checks of what it returned. */
export interface MadeCall<Args> {
  /** The part and its function, for messages: `filter "mine": keep`. */
  what: string;
  name: string;
  args: Args;
  part: object;
}

interface FunctionRule<F> {
  /** Place of the part's options among its arguments, if it takes them. They are checked before each call. */
  at?: number;
  /** True: the options are passed as they are. */
  unchecked?: true;
  /** The file of a part may leave the function out, or write a constant in its place: what it then returns. */
  otherwise?: F extends (...args: never) => infer T ? T : never;
  /** Whether it returns a promise; the function in the file of a part need not. */
  async?: true;
  /** Checks what the file's function returned, and completes it. @throws {ConfigError} PLUGIN_FAILED */
  returned?: F extends (...args: infer Args) => infer T
    ? (made: never, call: MadeCall<Args>) => Awaited<T>
    : never;
}

type FunctionRules<P> = { readonly [K in keyof P]?: FunctionRule<NonNullable<P[K]>> };

interface KindRules<R, D> {
  /** Functions that take the part's options, by name. */
  functions: R;
  members?: Members;
  defaults?: D;
}

/** A part as its file writes it: its options are typed by their schema, and optional where there are none. */
export type Described<P, S extends z.ZodObject, R, D> = Omit<
  P,
  "part" | "options" | keyof R | keyof D
> &
  Partial<Pick<P, keyof D & keyof P>> &
  ("options" extends keyof P ? { options?: S } : unknown) & {
    [K in keyof Pick<P, Exclude<keyof R & keyof P, Optional<R>>>]: Written<P[K], R[K & keyof R], S>;
  } & { [K in Optional<R> & keyof P]?: Written<P[K], R[K & keyof R], S> | ResultOf<P[K]> };

/** Names of the functions that the file of a part may leave out, or state as a constant. */
type Optional<R> = { [K in keyof R]: R[K] extends { otherwise: unknown } ? K : never }[keyof R];

type ResultOf<F> = NonNullable<F> extends (...args: never) => infer T ? T : never;

/** A function with options of the part's own type; what it returns is what its rule reads, a promise or not. */
type Written<F, Rule, S extends z.ZodObject> = F extends (...args: infer Args) => infer T
  ? (
      ...args: WithOptions<Args, Rule, z.output<S>>
    ) => Rule extends { returned: (made: infer M, ...rest: never) => unknown }
      ? T extends Promise<unknown>
        ? M | Promise<M>
        : M
      : T extends Promise<infer M>
        ? M | Promise<M>
        : T
  : F;

type WithOptions<Args, Rule, Options> = {
  [I in keyof Args]-?: Rule extends { at: infer At extends number }
    ? I extends `${At}`
      ? Options
      : Args[I]
    : Args[I];
};

/**
 * The define… function of a kind of part: checks its members, adds defaults, and checks options before they reach its functions.
 * @example const defineFilter = definer<Filter>()("filter", { functions: { keep: { at: 1 } } });
 */
export function definer<P extends Part>() {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- no defaults
  return <const R extends FunctionRules<P>, const D extends Partial<P> = {}>(
      kind: PartKind,
      { functions, members, defaults }: KindRules<R, D>,
    ) =>
    <S extends z.ZodObject>(described: Described<P, S, R, D>): P => {
      const rules = Object.entries(functions as Record<string, LooseRule>);
      const takesOptions = rules.some(([, { at }]) => at !== undefined);
      const own = takesOptions ? { options: z.strictObject({}) } : {};
      const given = { ...own, ...defaults, ...definedValues(described) } as Given;
      const { runs } = PART_KINDS[kind];
      requireDescribed(kind, given, runs === null ? [] : [runs], {
        ...(takesOptions ? { options: "schema" } : {}),
        ...members,
      });
      const part: Record<string, unknown> = { ...given, part: kind };
      for (const [own, rule] of rules) {
        const what = `${kind} "${given.name}": ${own}`;
        part[own] = functionOf(given[own], rule, { what, given });
      }
      return part as unknown as P;
    };
}

interface Given extends Record<string, unknown> {
  name: string;
  options: z.ZodObject;
}

type LooseFunction = (...args: unknown[]) => unknown;

interface LooseRule {
  at?: number;
  unchecked?: true;
  otherwise?: unknown;
  async?: true;
  returned?: (made: unknown, call: MadeCall<unknown[]>) => unknown;
}

function functionOf(
  written: unknown,
  { at, unchecked, otherwise, async: isAsync, returned }: LooseRule,
  { what, given }: { what: string; given: Given },
): LooseFunction | undefined {
  if (written === undefined && otherwise === undefined) return undefined;
  if (typeof written !== "function") return () => written ?? otherwise;
  const { name, options } = given;
  const called = (args: unknown[]): unknown => {
    const all = [...args];
    if (at !== undefined && unchecked !== true)
      all[at] = parseOptions(options, args[at] ?? {}, name);
    return (written as LooseFunction).apply(given, all);
  };
  const checked = (made: unknown, args: unknown[]): unknown =>
    returned === undefined ? made : returned(made, { what, name, args, part: given });
  return isAsync === true
    ? async (...args) => checked(await called(args), args)
    : (...args) => checked(called(args), args);
}
