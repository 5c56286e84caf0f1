/** What stops a template, without its file and line: the renderer adds them. */
export class TemplateFault extends Error {
  /** wrong: jinja2 fails too. unsupported: jinja2 knows this, we do not. endless: past a limit. refused: the template's `raise_exception`. */
  readonly kind: "wrong" | "unsupported" | "endless" | "refused";
  line: number | undefined;

  constructor(kind: TemplateFault["kind"], message: string, line?: number) {
    super(message);
    this.kind = kind;
    this.line = line;
  }
}

export function wrong(message: string, line?: number): TemplateFault {
  return new TemplateFault("wrong", message, line);
}

/** @param construct as a template's author would call it. */
export function unsupported(construct: string, line?: number): TemplateFault {
  return new TemplateFault("unsupported", construct, line);
}

/** Steps of one rendering: evaluated expressions, visited items, and 16 characters of text each. */
const STEPS = 2 ** 22;
/** Characters of a text and items of a list. */
const LENGTH = 2 ** 24;

/** Rendering is synchronous, so one counter serves all. */
let left = STEPS;

/** Runs one rendering with steps of its own. */
export function withSteps<T>(work: () => T): T {
  left = STEPS;
  return work();
}

/** @throws {TemplateFault} endless */
export function spend(steps = 1): void {
  left -= steps;
  if (left < 0) throw new TemplateFault("endless", `more than ${STEPS} steps`);
}

/** Call before a text or list of that length is made. @throws {TemplateFault} endless */
export function requireLength(length: number): void {
  if (length > LENGTH)
    throw new TemplateFault("endless", `a text or list of more than ${LENGTH} characters or items`);
  spend(length / 16);
}
