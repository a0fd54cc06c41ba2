import type { Chain } from "../chain/chain.ts";
import type { BlockCommitted } from "../chain/reader.ts";
import { CONSOLE_ADDRESS, createConsoleReader, mayPrint } from "../dev/console-log.ts";
import type { DevChain } from "../dev/dev-chain.ts";
import type { Hash } from "../primitives/hash.ts";
import { hexToBytes } from "../primitives/hex.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import type { StateReader } from "../state/reader.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import { textString } from "../tracing/json-writer.ts";
import type { ExecutedBlock } from "../types/block.ts";
import type { ArtifactLog } from "./artifact-log.ts";

/** A block that takes longer to trace prints nothing. */
const TIMEOUT_MS = 2_000;
/** Lines printed of one transaction. */
const LINES_MAX = 200;

type CallFrame = {
  readonly to?: string;
  readonly input: string;
  readonly calls?: readonly CallFrame[];
};

/** What contracts print with `console.log` of Hardhat and forge-std. */
type ConsoleWatch = {
  /** True when a transaction of the block may print. Looks at code alone: a chain without such contracts pays nothing more. */
  mayPrint(event: BlockCommitted, stateAfter: StateReader): boolean;
  /** Executes the transaction again. */
  linesOf(hash: Hash): Promise<readonly string[]>;
};

function createConsoleWatch(tracing: Pick<ExecutionPort, "traceTransaction">): ConsoleWatch {
  const textOf = createConsoleReader();
  /** A contract that prints was deployed, so any transaction may call it through others. */
  let isAnyDeployed = false;
  const known = new Map<Hash, boolean>();

  function printsCode(codeHash: Hash, state: StateReader): boolean {
    let prints = known.get(codeHash);
    if (prints === undefined) {
      prints = mayPrint(state.code(codeHash));
      known.set(codeHash, prints);
    }
    return prints;
  }

  return {
    mayPrint({ executed, changes }, state) {
      for (const code of changes.codes.values()) isAnyDeployed ||= mayPrint(code);
      if (isAnyDeployed) return true;
      isAnyDeployed = executed.block.transactions.some(({ to, data }) => {
        const account = to === null ? undefined : state.account(to);
        return to === null ? mayPrint(data) : account && printsCode(account.codeHash, state);
      });
      return isAnyDeployed;
    },
    async linesOf(hash) {
      const request = { tracer: "callTracer", timeoutMs: TIMEOUT_MS };
      const top = JSON.parse(textString(await tracing.traceTransaction({ hash, request }))) as CallFrame;
      const lines: string[] = [];
      const visit = (call: CallFrame): void => {
        const isPrinted = call.to === CONSOLE_ADDRESS && lines.length < LINES_MAX;
        const text = isPrinted ? textOf(hexToBytes(call.input)) : undefined;
        if (text !== undefined) lines.push(text);
        call.calls?.forEach(visit);
      };
      visit(top);
      return lines;
    },
  };
}

/** Failed transactions of a block whose reason is looked for: each is executed again after all before it in the block. */
const REASONS_MAX = 5;
/** A transaction further back in its block is not executed again for its reason. */
const REASON_INDEX_MAX = 100;
/** Transactions of a block that are executed again for what they print. */
const PRINTING_MAX = 100;
/** The reason of one transaction may take this long, during which nothing else runs. */
const REASON_TIMEOUT_MS = 500;

/** Logs a line for each transaction of each block of a dev chain, with the reason of those that failed. */
export function logTransactions(
  { chain, devChain }: { readonly chain: Chain; readonly devChain: DevChain | undefined },
  tracing: Pick<ExecutionPort, "traceTransaction">,
  {
    log,
    failures,
    artifacts,
  }: {
    readonly log: Logger;
    readonly failures: Failures;
    readonly artifacts: ArtifactLog | undefined;
  },
): void {
  const watch = createConsoleWatch(tracing);
  const logLater = failures.guard("transaction log", async (event: BlockCommitted) => {
    const { executed } = event;
    if (watch.mayPrint(event, chain.stateAt(executed.block.header.number))) {
      await logPrinted(executed, watch, log);
    }
    await logBlock(executed, tracing, log);
    if (artifacts !== undefined) await logCalls(executed, artifacts, log);
  });
  chain.subscribe((event) => {
    // After the callers that wait for the block: the line may need an execution.
    if (log.enabled("info") && devChain?.settings.logging !== false) setImmediate(logLater, event);
  });
}

/** A line for each call of `console.log`, transaction by transaction. */
async function logPrinted({ block }: ExecutedBlock, watch: ConsoleWatch, log: Logger): Promise<void> {
  for (const { hash } of block.transactions.slice(0, PRINTING_MAX)) {
    const lines = await watch.linesOf(hash).catch((error: unknown) => {
      log.warn("console.log of a transaction cannot be shown", { hash, error });
      return [];
    });
    for (const text of lines) log.info("console.log", { text });
  }
}

/** A line for each call and event, transaction by transaction. */
async function logCalls({ block, receipts }: ExecutedBlock, artifacts: ArtifactLog, log: Logger): Promise<void> {
  for (const [index, { hash }] of block.transactions.slice(0, PRINTING_MAX).entries()) {
    const isFailed = receipts[index]!.status === 0;
    const lines = await artifacts.linesOf(hash, { number: block.header.number, isFailed }).catch((error: unknown) => {
      log.warn("calls of a transaction cannot be shown", { hash, error });
      return [];
    });
    for (const text of lines) log.info("call", { text });
  }
}

async function logBlock(
  executed: ExecutedBlock,
  tracing: Pick<ExecutionPort, "traceTransaction">,
  log: Logger,
): Promise<void> {
  const { block, senders, receipts } = executed;
  let reasons = 0;
  for (const [index, tx] of block.transactions.entries()) {
    const receipt = receipts[index]!;
    const isFailed = receipt.status === 0;
    const data = {
      hash: tx.hash,
      from: senders[index],
      ...(tx.to === null ? { created: receipt.contractAddress } : { to: tx.to }),
      gasUsed: receipt.gasUsed,
      status: isFailed ? "failed" : "success",
    };
    const isExplained = isFailed && index <= REASON_INDEX_MAX && reasons++ < REASONS_MAX;
    log.info("transaction", {
      ...data,
      ...(isExplained && { reason: await reasonOf(tx.hash, tracing) }),
    });
  }
}

/** `execution reverted: not enough`, `out of gas`, or what stood in the way of finding out. */
async function reasonOf(hash: Hash, tracing: Pick<ExecutionPort, "traceTransaction">): Promise<string> {
  try {
    const trace = await tracing.traceTransaction({
      hash,
      request: {
        tracer: "callTracer",
        tracerConfig: { onlyTopCall: true },
        timeoutMs: REASON_TIMEOUT_MS,
      },
    });
    const { error, revertReason, output } = JSON.parse(textString(trace)) as {
      error?: string;
      revertReason?: string;
      output?: string;
    };
    const detail = revertReason ?? output;
    return detail === undefined ? `${error}` : `${error}: ${detail}`;
  } catch (error) {
    // The block is there whatever becomes of its log line.
    return `unknown (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** One line a block. */
export function logBlocks(chain: Chain, log: Logger): void {
  chain.subscribe(({ executed: { block } }) => {
    const { number, gasUsed } = block.header;
    const { hash, transactions } = block;
    log.info("block committed", { number, hash, transactions: transactions.length, gasUsed });
  });
}
