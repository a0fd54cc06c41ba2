import type { SubmissionRules } from "../../mempool/submission.ts";
import type { TraceChains } from "../debug/trace/trace-chains.ts";
import type { MethodInfo } from "../dispatch/method.ts";
import type { HashrateRegistry } from "../eth/client/hashrate-registry.ts";
import type { KeyedLock } from "../eth/submit/keyed-lock.ts";
import type { Filters } from "../filters/filters.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import type { LesPort } from "../les/port.ts";
import type { ShhPort } from "../shh/port.ts";
import type { EthFeeds } from "../subscriptions/eth-feeds.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";
import type { ChainView, LogLimits } from "./chain-view.ts";
import type { DevPort } from "./dev.ts";
import type { ExecutionPort } from "./execution.ts";
import type { InspectionPort } from "./inspection.ts";
import type { KeysPort } from "./keys.ts";
import type { NodePort } from "./node.ts";
import type { RuntimePort } from "./runtime.ts";
import type { ToolsPort } from "./tools.ts";

/** All that JSON-RPC methods reach; each method asks for the least of it. */
export type RpcPorts = RemotePorts & {
  /** What belongs to connections and callers: it lives where the connections are. */
  readonly sessions: Sessions;
  /** Plain settings, so that a method needs no port to read one. */
  readonly settings: RpcSettings;
};

/** The ports that may be answered by another thread or process. */
export type RemotePorts = {
  /** Reads, pool, fees, submit and events: one chain, one order of events. */
  readonly chain: ChainView;
  /** Apart from `chain`, because it costs milliseconds where a read costs microseconds, and may be given threads of its own. */
  readonly execution: ExecutionPort;
  /** Apart from `chain`, because it scans states and the store. */
  readonly inspection: InspectionPort;
  /** Apart from `node`, because private keys are reached through nothing else. */
  readonly keys: KeysPort;
  readonly node: NodePort;
  /** Apart from `node`, because only a dev chain has it. */
  readonly dev: DevPort;
  /** Apart from `node`, because it has stores of its own. */
  readonly les: LesPort;
  /** Apart from `node`, because it needs neither chain nor node. */
  readonly shh: ShhPort;
  /** Apart from `node`, because it is about the process and needs no chain. */
  readonly runtime: RuntimePort;
  /** Apart from `chain`, because it needs no chain. */
  readonly tools: ToolsPort;
};

export type Sessions = {
  readonly filters: Filters;
  readonly subscriptions: Subscriptions;
  readonly feeds: EthFeeds;
  readonly traceChains: TraceChains;
  readonly blockJson: BlockJsonCache;
  /** One nonce at a time per account. */
  readonly sendLock: KeyedLock;
  readonly hashrates: HashrateRegistry;
};

export type RpcSettings = {
  readonly logLimits: LogLimits & {
    /** Addresses, and topics of one position, in a filter; 0: no limit. */ readonly termsMax: number;
  };
  /** Blocks that one `trace_filter` may execute again, and bytes of its answer. */
  readonly traceFilter: { readonly blocksMax: number; readonly bytesMax: number };
  /** Transactions in a page of an `ots` method. */
  readonly otsPageSizeMax: number;
  readonly submissionRules: SubmissionRules;
  /** The prefix of a signed message is `\x19`, this name, ` Signed Message:\n` (EIP-191). */
  readonly chainName: string;
  /** For `rpc_discover`: every method there is. */
  readonly methods: readonly MethodInfo[];
};
