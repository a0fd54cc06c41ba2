/** Called by long computations every few milliseconds, so that the caller may stop them by throwing. */
export type Checkpoint = () => void;

export const noCheckpoint: Checkpoint = () => {};
