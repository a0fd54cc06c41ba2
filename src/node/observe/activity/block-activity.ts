import type { Timers } from "../../../base/telemetry/timers.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import type { Chain } from "../../../chain/chain.ts";
import { detailsOf } from "../log-transactions.ts";
import type { ProjectNames } from "../project-names.ts";
import type { TransactionTracer } from "../transaction-tracer.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { BlockReport, TransactionReport } from "./block-text.ts";

/** Volume of block activity in the log. The log counts the omitted entries. */
const BLOCK_ACTIVITY_LIMITS = {
  /** Blocks waiting to be printed. */
  waitingMax: 16,
  /** Transactions shown of one block; each is re-executed after all its predecessors. */
  transactionsPerBlock: 20,
  /** Transactions per second, a few screens. */
  transactionsPerSecond: 50,
  /** Time per second for re-executing transactions on the chain's thread, which has other work. */
  detailsMsPerSecond: 150,
  /** Maximum charge for one transaction: slower ones run on another thread, which may still have to start. */
  detailsMsMax: 20,
} as const;

type BlockActivityModules = {
  readonly chain: Chain;
  readonly names: ProjectNames;
  readonly tracer: TransactionTracer;
  readonly activity: ActivityLog;
  readonly timers: Pick<Timers, "now" | "deferred">;
};

/** Shows blocks in the log for users, one at a time. Each shown transaction is executed again for its calls, over several event-loop turns. */
export class BlockActivity {
  readonly #modules: BlockActivityModules;
  readonly #waiting: ExecutedBlock[] = [];
  #isRunning = false;
  #second = -1;
  #transactionsLeft = 0;
  #detailsMsLeft = 0;

  constructor(modules: BlockActivityModules) {
    this.#modules = modules;
    const { chain, activity, timers } = modules;
    const runSoon = timers.deferred("block log", () => this.#run());
    chain.subscribe(({ executed }) => {
      if (!activity.isOn) return;
      this.#waiting.push(executed);
      if (this.#waiting.length > BLOCK_ACTIVITY_LIMITS.waitingMax) this.#hide(this.#waiting.shift()!);
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Runs after the callers that wait for the block.
      runSoon();
    });
    chain.onRollback((removed) => {
      const { number } = chain.head().block.header;
      const count = removed.length;
      activity.print([`block ${number} is the newest again: ${count} block${count === 1 ? "" : "s"} removed`]);
    });
  }

  async #run(): Promise<void> {
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        await this.#show(next);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #show(executed: ExecutedBlock): Promise<void> {
    const { activity } = this.#modules;
    const { number } = executed.block.header;
    this.#refill();
    if (executed.block.transactions.length === 0) activity.emptyBlock(number);
    else if (this.#transactionsLeft === 0) this.#hide(executed);
    else {
      const report = await this.#report(executed).catch((error: unknown) => {
        // A block removed meanwhile has no state.
        if (this.#modules.chain.blockHash(number) === executed.block.hash) throw error;
        return undefined;
      });
      await activity.settled();
      if (report !== undefined) activity.block(report);
    }
  }

  #refill(): void {
    const second = Math.floor(this.#modules.timers.now() / 1_000);
    if (second === this.#second) return;
    this.#second = second;
    this.#transactionsLeft = BLOCK_ACTIVITY_LIMITS.transactionsPerSecond;
    this.#detailsMsLeft = BLOCK_ACTIVITY_LIMITS.detailsMsPerSecond;
  }

  #hide({ block, receipts }: ExecutedBlock): void {
    this.#modules.activity.hideBlock(block.header.number, { count: receipts.length, failed: failedOf(receipts) });
  }

  async #report(executed: ExecutedBlock): Promise<BlockReport> {
    const { header, transactions } = executed.block;
    const shownMax = Math.min(BLOCK_ACTIVITY_LIMITS.transactionsPerBlock, this.#transactionsLeft, transactions.length);
    this.#transactionsLeft -= shownMax;
    const shown: TransactionReport[] = [];
    for (let index = 0; index < shownMax; index++) shown.push(await this.#transaction(executed, index));
    const rest = executed.receipts.slice(shownMax);
    return {
      number: header.number,
      transactions: transactions.length,
      gasUsed: header.gasUsed,
      gasLimit: header.gasLimit,
      baseFeePerGas: header.baseFeePerGas,
      timestamp: header.timestamp,
      shown,
      hidden: { count: rest.length, failed: failedOf(rest) },
    };
  }

  async #transaction(executed: ExecutedBlock, index: number): Promise<TransactionReport> {
    const { names, timers } = this.#modules;
    const { number } = executed.block.header;
    const tx = executed.block.transactions[index]!;
    const receipt = executed.receipts[index]!;
    const isFailed = receipt.status === 0;
    let details: TransactionReport["details"];
    if (this.#detailsMsLeft > 0 && (isFailed || this.#runsCode(executed, index))) {
      const startMs = timers.now();
      details = await detailsOf(this.#modules.tracer.details(tx.hash, { number, isFailed }));
      this.#detailsMsLeft -= Math.min(timers.now() - startMs, BLOCK_ACTIVITY_LIMITS.detailsMsMax);
    }
    const { contractAddress } = receipt;
    return {
      hash: tx.hash,
      from: names.addressText(executed.senders[index]!, number),
      to: tx.to === null ? undefined : names.addressText(tx.to, number),
      created: contractAddress === null || isFailed ? undefined : names.addressText(contractAddress, number),
      value: tx.value,
      nonce: tx.nonce,
      gasUsed: receipt.gasUsed,
      gasLimit: tx.gasLimit,
      gasPrice: receipt.effectiveGasPrice,
      blobFee: (receipt.blobGasUsed ?? 0n) * (receipt.blobGasPrice ?? 0n),
      isFailed,
      details,
    };
  }

  /** Plain transfers have no calls to show. */
  #runsCode({ block, receipts }: ExecutedBlock, index: number): boolean {
    const { to } = block.transactions[index]!;
    if (to === null || receipts[index]!.logs.length > 0) return true;
    const account = this.#modules.chain.stateAt(block.header.number).account(to);
    return account !== undefined && account.codeHash !== EMPTY_CODE_HASH;
  }
}

function failedOf(receipts: ExecutedBlock["receipts"]): number {
  return receipts.filter(({ status }) => status === 0).length;
}
