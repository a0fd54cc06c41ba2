/** Limits of calls and traces that leave no block. */
export type CallLimits = {
  /** Units one call may use; 0: no limit */
  readonly gasCap: bigint;
  /** 0: no limit */
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  /** Bytes one eth_call may return. */
  readonly returnBytesMax: number;
  /** Of one debug_trace call: the default time, the most a caller may name, bytes of all its traces, memory of a script. */
  readonly trace: {
    readonly timeoutMs: number;
    readonly timeoutMsMax: number;
    readonly bytesMax: number;
    readonly scriptMemoryBytesMax: number;
  };
};
