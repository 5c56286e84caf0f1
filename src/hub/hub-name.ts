/** A model on the hub. */
export interface HubName {
  /** `organisation/model` */
  repository: string;
  /** Branch, tag or commit. */
  revision: string;
}

/** The branch that is meant when none is named. */
const DEFAULT_REVISION = "main";

/**
 * Reads `org/name` or `org/name@revision`; null for anything else, such as a path.
 * @example parseHubName("Qwen/Qwen2.5-0.5B@v1") // { repository: "Qwen/Qwen2.5-0.5B", revision: "v1" }
 */
export function parseHubName(text: string): HubName | null {
  const [, repository = "", revision = DEFAULT_REVISION] =
    /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w][\w./-]*))?$/.exec(text) ?? [];
  // The hub's own rules; they also keep a name inside the cache's folder.
  if (repository === "" || /--|\.\.|[.-](\/|$)|\.git$/.test(repository)) return null;
  return /\.\.|\/\/|[./]$|\.lock$/.test(revision) ? null : { repository, revision };
}

/** The name as it is typed. */
export function hubNameText({ repository, revision }: HubName): string {
  return revision === DEFAULT_REVISION ? repository : `${repository}@${revision}`;
}
