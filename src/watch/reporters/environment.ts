/** What an environment variable holds, white space around it dropped; undefined where it is not set or empty. */
export function environmentValue(variable: string): string | undefined {
  const value = process.env[variable]?.trim();
  return value === "" ? undefined : value;
}
