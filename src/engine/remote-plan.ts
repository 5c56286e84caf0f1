/** What a plan must know of training servers, without connecting: what they cannot do, or would ignore. */
export { type Dialect, dialectNamed } from "./tinker/dialect.ts";
export {
  oneModelOnly,
  requireComputable,
  requireExpressible,
  requireFullWeights,
  requireHonoured,
  requireTemperature,
} from "./tinker/limits.ts";
