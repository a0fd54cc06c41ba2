import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import { formatText } from "../../src/base/telemetry/format.ts";
import { type LogData, type Logger, SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { eventually } from "./until.ts";

/** With an awaited line that did not come. */
const LINES_SHOWN = 20;

type Level = "error" | "warn" | "info";
type Line = { readonly level: Level; readonly module: string; readonly message: string; readonly data: LogData };

/** The log of a node in this process: every line of the levels that operators read. */
export class NodeLog {
  readonly logger: Logger;
  readonly #lines: Line[] = [];
  readonly #waiting = new Set<(line: Line) => void>();

  /** @param inner gets every line too */
  constructor(inner: Logger = SILENT_LOGGER) {
    this.logger = this.#collecting(inner, "");
  }

  /** Resolves with the first line that matches `pattern`, also one of the past. @throws AssertionError where none comes for minutes */
  async until(pattern: RegExp, hangMs?: number): Promise<string> {
    const known = this.#lines.map(textOf).find((text) => pattern.test(text));
    if (known !== undefined) return known;
    const what = () => `a line of the log that matches ${pattern}; the last ones are\n${this.#last(LINES_SHOWN)}`;
    return eventually<string>(
      (resolve) => {
        const look = (line: Line) => {
          const text = textOf(line);
          if (pattern.test(text)) resolve(text);
        };
        this.#waiting.add(look);
        return () => this.#waiting.delete(look);
      },
      what,
      hangMs,
    );
  }

  #last(count: number): string {
    return this.#lines.slice(-count).map(textOf).join("\n");
  }

  /** @throws AssertionError where the lines of level error are not those of `expected` and `possible` */
  assertErrors(expected: readonly RegExp[], possible: readonly RegExp[] = []): void {
    assertExpected(this.#lines.filter(({ level }) => level === "error").map(textOf), expected, possible);
  }

  #collecting(inner: Logger, module: string): Logger {
    const take =
      (level: Level) =>
      (message: string, data: LogData = {}) => {
        const line = { level, module, message, data };
        this.#lines.push(line);
        for (const look of [...this.#waiting]) look(line);
        inner[level](message, data);
      };
    return {
      // Also what a root logger has more than others.
      ...inner,
      error: take("error"),
      warn: take("warn"),
      info: take("info"),
      child: (name, data) => this.#collecting(inner.child(name, data), module ? `${module}.${name}` : name),
    };
  }
}

function textOf(line: Line): string {
  return formatText({ time: 0, ...line }, false).slice("1970-01-01T00:00:00.000Z ".length);
}

/**
 * A node goes on after most errors, so a test that looks at answers alone passes beside a fault: every line of level error has to match an
 * expectation of its test, and every expectation has to be met.
 * @param possible need not be met: what decides is outside the node
 */
export function assertExpected(
  errors: readonly string[],
  expected: readonly RegExp[],
  possible: readonly RegExp[] = [],
): void {
  const unexpected = errors.filter((line) => ![...expected, ...possible].some((pattern) => pattern.test(line)));
  assert.equal(unexpected.length, 0, `the node logged errors that its test does not expect:\n${unexpected.join("\n")}`);
  const missing = expected.filter((pattern) => !errors.some((line) => pattern.test(line)));
  assert.equal(missing.length, 0, `the node did not log the expected ${missing.join(", ")}`);
}

/** A line of level error in one of the formats of the log. */
const ERROR_LINE = /^(?:\d{4}-\d\d-\d\dT[\d:.]+Z error |error {1,2}\S|\{"time":(?:"[^"]*"|\d+),"level":"error")/;

/** The lines of level error in the output of a process. */
export function errorLinesOf(output: string): string[] {
  return stripVTControlCharacters(output)
    .split("\n")
    .filter((line) => ERROR_LINE.test(line));
}
