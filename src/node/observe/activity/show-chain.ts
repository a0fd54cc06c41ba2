import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { Chain } from "../../../chain/chain.ts";
import type { PoolReader } from "../../../consensus/mempool/pool.ts";
import type { DevChain } from "../../../dev/dev-chain.ts";
import type { ProjectNames } from "../project-names.ts";
import type { TransactionTracer } from "../transaction-tracer.ts";
import type { ActivityLog } from "./activity-log.ts";
import { BlockActivity } from "./block-activity.ts";
import { CallDetails } from "./call-details.ts";
import { wordsOf } from "./call-words.ts";
import { MethodHints } from "./method-hints.ts";

type ShownChain = {
  readonly timers: Timers;
  readonly chain: Chain;
  /** undefined if the chain cannot be controlled */
  readonly devChain: DevChain | undefined;
  readonly mempool: Pick<PoolReader, "get" | "nonceOf">;
  readonly names: ProjectNames;
  readonly tracer: TransactionTracer;
  readonly accounts: readonly { readonly address: Address }[];
  /** Names of the node's methods. */
  readonly methods: () => Iterable<string>;
  /** `debug_traceCall` of the node. */
  readonly traceCall: (params: readonly unknown[]) => Promise<unknown>;
  /** Time limit for executing a call again. */
  readonly callMs: number;
};

/** Connects the log for users to a dev chain: its blocks, and calls with the names of its contracts. */
export function showChain(activity: ActivityLog, shown: ShownChain): void {
  const { timers, chain, devChain, mempool, names, tracer } = shown;
  const now = () => timers.now();
  const headState = () => {
    const { number } = chain.head().block.header;
    return { number, state: chain.stateAt(number) };
  };
  const hints = new MethodHints(shown.methods, now);
  const modules = {
    names,
    methodHint: (method: string) => hints.hintFor(method),
    headNumber: () => chain.head().block.header.number,
    accounts: () => shown.accounts.map(({ address }) => address),
    waitingReason: (hash: string) => waitingReason(hash as Hash, mempool),
  };
  const details = new CallDetails({
    names,
    tracer,
    headState,
    traceCall: shown.traceCall,
    timeoutMs: shown.callMs,
    now,
  });
  activity.connect({
    isMuted: () => devChain?.settings.logging === false,
    wordsOf: (record) => wordsOf(record, modules),
    headNumber: modules.headNumber,
    detailsOf: (method, params, isFailed) => details.linesOf(method, params, isFailed),
  });
  new BlockActivity({ chain, names, tracer, activity, timers });
}

/** Why a transaction that was just submitted is not in a block. */
function waitingReason(hash: Hash, mempool: Pick<PoolReader, "get" | "nonceOf">): string | undefined {
  const pooled = mempool.get(hash);
  if (pooled === undefined) return undefined;
  const next = mempool.nonceOf(pooled.sender);
  const { nonce } = pooled.tx;
  return nonce > next ? `queued: its nonce is ${nonce}, the account's next one ${next}` : "pending";
}
