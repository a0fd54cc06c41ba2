/** One set of official vectors: takes the arguments behind its name, prints every failure, counts. */
export type Suite = (args: readonly string[]) => Promise<SuiteResult>;
export type SuiteResult = {
  readonly passed: number;
  readonly failed: number;
  /** What failed and how, where a test shows it. */
  readonly failures?: readonly string[];
};
