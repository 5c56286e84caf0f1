import { tensorsOf, totalSize, type ParameterSpec } from "../../models/parameters.ts";
import type { Device } from "../../onnx/device.ts";
import { tensorOf, type Tensor } from "../../onnx/session.ts";

/** A tensor per parameter on the device, which can be read and written as one flat array. */
export interface ParameterTensors {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly flat: Float32Array | null;
  read(): Promise<Float32Array>;
  write(numbers: Float32Array): Promise<void>;
  copyFrom(other: ParameterTensors): Promise<void>;
  clear(): Promise<void>;
}

/** Zero-initialised parameters. @param flat zeros that host memory uses as its array; default: an own one. */
export async function parameterTensors(
  device: Device,
  specs: readonly ParameterSpec[],
  flat?: Float32Array,
): Promise<ParameterTensors> {
  return device.resident ? apart(device, specs) : partsOfOne(specs, flat);
}

/** Views of one array, which can be copied, cleared and sent at once. */
function partsOfOne(
  specs: readonly ParameterSpec[],
  flat: Float32Array = new Float32Array(totalSize(specs)),
): ParameterTensors {
  const tensors = new Map(
    tensorsOf(specs, flat).map(({ name, shape, data }) => [name, tensorOf(data, shape)]),
  );
  return {
    flat,
    tensors,
    read: () => Promise.resolve(flat),
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

async function apart(device: Device, specs: readonly ParameterSpec[]): Promise<ParameterTensors> {
  const tensors = new Map<string, Tensor>();
  for (const { name, shape } of specs) tensors.set(name, await device.zeros(shape));
  return {
    flat: null,
    tensors,
    async read() {
      const numbers = new Float32Array(totalSize(specs));
      for (const { name, data } of tensorsOf(specs, numbers))
        data.set(await device.read(tensors.get(name)!));
      return numbers;
    },
    async write(numbers) {
      for (const { name, data } of tensorsOf(specs, numbers))
        await device.write(tensors.get(name)!, data);
    },
    async copyFrom(other) {
      for (const [name, tensor] of tensors) await device.copy(other.tensors.get(name)!, tensor);
    },
    async clear() {
      for (const tensor of tensors.values()) await device.clear(tensor);
    },
  };
}
