import type { Timers } from "../../base/telemetry/timers.ts";
import type { SubmissionRules } from "../../consensus/mempool/submission.ts";
import type { LogLimits } from "../ports/chain-view.ts";
import type { RemotePorts } from "../ports/remote-ports.ts";
import type { Method, MethodInfo } from "../transport/dispatch/method.ts";
import type { ConnectionSessions, Sessions } from "./sessions.ts";

/** All that JSON-RPC methods reach; each handler names the ports that it needs. */
export type RpcPorts = RemotePorts & {
  /** What belongs to connections and callers: it lives where the connections are. */
  readonly sessions: Sessions;
  /** Plain settings, so that a method needs no port to read one. */
  readonly settings: RpcSettings;
  readonly timers: Timers;
};

/** What methods reach in a process that serves connections beside the chain's. */
export type ServingPorts = Omit<RpcPorts, "sessions"> & { readonly sessions: ConnectionSessions };

/** The method runs in the chain's process, whichever process serves the connection: its data exists only there. */
export function forwarded(method: Method<RpcPorts>): Method<ServingPorts> {
  return { ...method, isForwarded: true } as Method<ServingPorts>;
}

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
  /** Answers are anvil's where tools disagree. */
  readonly isAnvil: boolean;
  /** For `rpc_discover`: every method there is. */
  readonly methods: readonly MethodInfo[];
};
