/**
 * Worlds of different splits share no entity name, for any seeds and sizes; worlds of one split may.
 * "base" is for pre-training a policy, so that train, dev and test stay unseen.
 */
export const TINY_WORLD_SPLITS = ["train", "dev", "test", "base"] as const;

export type TinyWorldSplit = (typeof TINY_WORLD_SPLITS)[number];
