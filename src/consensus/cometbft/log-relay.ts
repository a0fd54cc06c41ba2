import type { Logger } from "../../telemetry/logger.ts";
import type { LogRecord } from "./log-records.ts";

/** Errors of CometBFT that our log has in a window: a peer can cause one with each message, with a stack of some kilobytes. */
const ERRORS_MAX = 20;
const WINDOW_MS = 10_000;
const LINE_CHARS_MAX = 2_000;

/** CometBFT's output in our log, a level lower: its "info" is one record for each step of consensus. */
export class LogRelay {
  readonly #log: Logger;
  readonly #now: () => number;
  #windowAt = Number.NEGATIVE_INFINITY;
  #errors = 0;

  /** @param now milliseconds of a clock that never jumps */
  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  record({ level, module, message, fields }: LogRecord): void {
    const text = `CometBFT: ${message}`;
    const data = { ...fields, module };
    if (level === "error" && this.#hasRoom()) this.#log.warn(text, data);
    else this.#log.debug(text, data);
  }

  /** A line that is no record. */
  line(line: string): void {
    if (line.trim() === "") return;
    this.#log.debug("CometBFT output", { line: line.slice(0, LINE_CHARS_MAX) });
  }

  /** Counts an error; of the ones beyond the limit only their number is a warning, in the next window. */
  #hasRoom(): boolean {
    const now = this.#now();
    if (now - this.#windowAt >= WINDOW_MS) {
      const left = this.#errors - ERRORS_MAX;
      if (left > 0)
        this.#log.warn("CometBFT logged more errors: log.level = debug has all", { left });
      this.#windowAt = now;
      this.#errors = 0;
    }
    return ++this.#errors <= ERRORS_MAX;
  }
}
