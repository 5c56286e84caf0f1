/** A run's settings, as a recipe of their own. */
export const RESOLVED_FILE = "recipe.resolved.yaml";

/** What a run was made with and on; where it is, there is a run. */
export const MANIFEST_FILE = "manifest.json";
