import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { Channel } from "../../base/threads/channel.ts";
import { threadData } from "../../base/threads/native-calls.ts";
import { serveThread } from "../../base/threads/serve-thread.ts";
import { RELEASE_MS } from "../../chain/store/follow/store-follower.ts";
import type { RecordedBatch } from "../../evm/execution/parallel/recorded-batch.ts";
import type { SentListedBlock } from "../../evm/execution/parallel/speculation.ts";
import { type ModuleStarter, RequestedModules } from "../compiled-contracts/requested-modules.ts";
import { FollowingSpeculation, type SentTransactions, type SpeculationThreadData } from "./following-speculation.ts";

/** The thread's functions for its starter. */
export type SpeculationHandlers = {
  speculate(sent: SentTransactions): RecordedBatch | undefined;
  executeListed(sent: SentListedBlock): RecordedBatch | undefined;
  /** The compiling thread dropped a compiled contract. */
  dropped(key: string): void;
};

const modules = new RequestedModules((request) => starter.call("compile", request));
const speculation = new FollowingSpeculation(threadData<SpeculationThreadData>(), modules);

const starter: Channel<ModuleStarter> = serveThread<ModuleStarter>({
  speculate: (sent: SentTransactions) => speculation.speculate(sent),
  executeListed: (sent: SentListedBlock) => speculation.executeListed(sent),
  dropped: (key: string) => modules.drop(key),
})!;
fatalTimers.every(RELEASE_MS, "release of removed files", () => speculation.releaseRemoved());
