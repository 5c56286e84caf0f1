export { defineEstimator } from "./advantages/estimator.ts";
export { z } from "./base/schema.ts";
