/** How the calls of one simulation run. */
export type SimulationOptions = {
  /** Holds nonces and fees against the rules for transactions. */
  readonly validation: boolean;
  /** Logs each transfer of ether. */
  readonly traceTransfers: boolean;
  /** Units for all calls together; 0: no limit */
  readonly gasCap: bigint;
  /** Milliseconds for all calls together */
  readonly timeoutMs?: number;
  readonly memoryBytesMax?: number;
};
