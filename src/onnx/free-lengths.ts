import { InternalError } from "../base/errors.ts";
import type { Graph, Value } from "../autodiff/graph.ts";
import type { Device } from "./device.ts";
import { type Session, tensorOf, type Tensor } from "./session.ts";

/** Lengths that may differ from run to run, by name. */
export type Lengths<N extends string> = Readonly<Record<N, number>>;

/** A graph that one session runs at any lengths. */
export interface FreeSession<N extends string> extends Pick<
  Session,
  "inputNames" | "nodes" | "release"
> {
  /** As `Session.run`, with the lengths of this run, each at least 1. */
  run(
    lengths: Lengths<N>,
    feeds: Readonly<Record<string, Tensor>>,
    fetches?: Readonly<Record<string, Tensor>>,
  ): Promise<Record<string, Tensor>>;
}

/** Example lengths: primes, so that a product of them shows of which; so small that the elements of a tensor are counted exactly. */
const EXAMPLES = [
  [10_007, 10_009, 10_037, 10_039],
  [10_061, 10_067, 10_069, 10_079],
] as const;

/**
 * Compiles a graph once for all lengths. It is built with two sets of example lengths; every number of its shapes that differs must be a
 * product of a number and lengths, which is then computed for each run.
 *
 * @param names at most four.
 * @param build must create the same nodes at every call. Lengths may appear in shapes and in int64 vectors (new shapes, ends of slices,
 *   lengths of pieces), not in attributes and other constants.
 * @throws {InternalError} GRAPH_NOT_FREE when a constant depends on a length in another way. @throws {ExternalError} RUNTIME_FAILED
 */
export async function compileFree<N extends string>(
  device: Device,
  names: readonly N[],
  build: (lengths: Lengths<N>) => { graph: Graph; outputs: Record<string, Value> },
): Promise<FreeSession<N>> {
  const [first, second] = EXAMPLES.map(
    (primes) => Object.fromEntries(names.map((name, i) => [name, primes[i]])) as Lengths<N>,
  ) as [Lengths<N>, Lengths<N>];
  const { graph, outputs } = build(first);
  const other = build(second).graph;
  const productOf = (where: string, one: number, two: number): Product<N> => {
    const product = factored(one, names, first);
    if (valueOf(product, second) === two) return product;
    const message = `${where} is ${one} and ${two} at lengths ${JSON.stringify([first, second])}: expected a product of lengths.`;
    throw new InternalError("GRAPH_NOT_FREE", message);
  };
  graph.inputs.forEach((input, i) => {
    const axes = input.shape.flatMap((length, axis) => {
      const there = other.inputs[i]?.shape[axis];
      if (there === length) return [];
      const product = productOf(`axis ${axis} of input "${input.name}"`, length, there ?? NaN);
      return [[axis, symbolOf(product)] as const];
    });
    if (axes.length > 0) graph.freeAxes.set(input, Object.fromEntries(axes));
  });
  const vectors = [...other.constants.values()];
  const given = new Map<Value, Product<N>[]>();
  [...graph.constants].forEach(([value, data], i) => {
    const there = vectors[i] ?? [];
    if (there.length === data.length && data.every((each, k) => each === there[k])) return;
    const where = `constant "${value.name}" (${value.dtype} [${value.shape.join(", ")}])`;
    if (value.dtype !== "int64" || value.shape.length !== 1) {
      const message = `${where} depends on a length that differs from run to run. Allowed are int64 vectors, such as shapes; expand a scalar, or read an input.`;
      throw new InternalError("GRAPH_NOT_FREE", message);
    }
    given.set(
      value,
      data.map((each, k) => productOf(where, each, there[k] ?? NaN)),
    );
  });
  const session = await device.compile(graph, outputs, { given: new Set(given.keys()) });
  return {
    inputNames: session.inputNames,
    nodes: session.nodes,
    release: () => session.release(),
    run: (lengths, feeds, fetches) => {
      const shapes: Record<string, Tensor> = {};
      for (const [{ name }, products] of given) {
        const numbers = products.map((each) => BigInt(valueOf(each, lengths)));
        shapes[name] = tensorOf(BigInt64Array.from(numbers), [numbers.length]);
      }
      return session.run({ ...feeds, ...shapes }, fetches);
    },
  };
}

/** A number times lengths. */
interface Product<N extends string> {
  factor: number;
  lengths: readonly N[];
}

function factored<N extends string>(
  number: number,
  names: readonly N[],
  examples: Lengths<N>,
): Product<N> {
  let factor = number;
  const lengths: N[] = [];
  for (const name of names) {
    while (factor !== 0 && factor % examples[name] === 0) {
      factor /= examples[name];
      lengths.push(name);
    }
  }
  return { factor, lengths };
}

function valueOf<N extends string>({ factor, lengths }: Product<N>, at: Lengths<N>): number {
  return lengths.reduce((product, name) => product * at[name], factor);
}

function symbolOf<N extends string>({ factor, lengths }: Product<N>): string {
  return [factor, ...lengths].join("*");
}
