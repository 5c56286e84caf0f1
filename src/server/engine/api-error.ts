/** A refusal that a client of the Tinker API reads: a status, and `detail`. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}
