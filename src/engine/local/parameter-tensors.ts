import { tensorsOf, totalSize, type ParameterSpec } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import { tensorOf, type Tensor } from "../../onnx/session.ts";

/** A tensor for every parameter, where the device computes; one flat array to whoever reads or writes all of them. */
export interface ParameterTensors {
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** The array whose parts the tensors are, where they lie in the host's memory; null where they do not. */
  readonly flat: Float32Array | null;
  /** All numbers, in the order of the parameters: `flat` itself, or a copy. */
  read(): Promise<Float32Array>;
  write(numbers: Float32Array): Promise<void>;
  /** Overwrites them by others of the same parameters. */
  copyFrom(other: ParameterTensors): Promise<void>;
  clear(): Promise<void>;
}

/** Zeros for every parameter. */
export async function parameterTensors(
  device: Device,
  specs: readonly ParameterSpec[],
): Promise<ParameterTensors> {
  return device.resident ? apart(device, specs) : partsOfOne(specs);
}

/** Parts of one array: copied, cleared and sent in one piece. */
function partsOfOne(specs: readonly ParameterSpec[]): ParameterTensors {
  const flat = new Float32Array(totalSize(specs));
  const tensors = new Map(
    tensorsOf(specs, flat).map(({ name, shape, data }) => [name, tensorOf(data, shape)]),
  );
  return {
    ...{ flat, tensors, read: () => Promise.resolve(flat) },
    write(numbers) {
      flat.set(numbers);
      return Promise.resolve();
    },
    async copyFrom(other) {
      flat.set(await other.read());
    },
    clear() {
      flat.fill(0);
      return Promise.resolve();
    },
  };
}

/** Tensors of their own in a device's memory. */
async function apart(device: Device, specs: readonly ParameterSpec[]): Promise<ParameterTensors> {
  const tensors = new Map<string, Tensor>();
  for (const { name, shape } of specs) tensors.set(name, await device.zeros(shape));
  return {
    ...{ flat: null, tensors },
    async read() {
      const numbers = new Float32Array(totalSize(specs));
      for (const { name, data } of tensorsOf(specs, numbers)) {
        data.set(await device.read(tensors.get(name)!));
      }
      return numbers;
    },
    async write(numbers) {
      for (const { name, data } of tensorsOf(specs, numbers)) {
        await device.write(tensors.get(name)!, data);
      }
    },
    async copyFrom(other) {
      for (const [name, tensor] of tensors) await device.copy(other.tensors.get(name)!, tensor);
    },
    async clear() {
      for (const tensor of tensors.values()) await device.clear(tensor);
    },
  };
}
