/** What a plan must know of training servers, without connecting: what they cannot do, or would ignore. */
export { dialectNamed } from "./tinker/dialect.ts";
export {
  requireComputable,
  requireExpressible,
  requireHonoured,
  requireTemperature,
} from "./tinker/limits.ts";
