/** Words that the thread of this module shares with its test. */
export const SHARED = { go: 0, entered: 1, left: 2 } as const;

export type AddonThreadData = {
  readonly directory: string;
  readonly shared: Int32Array;
  /** `slow`: one call that lasts until the signal; `addons`: calls of addons without end. */
  readonly calls: "slow" | "addons";
};
