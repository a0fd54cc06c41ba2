/** Small, so that a few blocks begin segments and merge history. */
export const STORE_LIMITS = {
  segmentBytesMax: 12_000,
  mergeLimits: { versionsMin: 30, nodeBytesMin: 20_000, blocksMin: 8, keysMax: 5 },
};
