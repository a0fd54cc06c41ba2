import type { BlockCommitted } from "../chain/reader.ts";
import { CONSOLE_ADDRESS, createConsoleReader, mayPrint } from "../dev/console-log.ts";
import type { Hash } from "../primitives/hash.ts";
import { hexToBytes } from "../primitives/hex.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import type { StateReader } from "../state/reader.ts";
import { textString } from "../tracing/json-writer.ts";

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
export type ConsoleWatch = {
  /** True when a transaction of the block may print. Looks at code alone: a chain without such contracts pays nothing more. */
  mayPrint(event: BlockCommitted, stateAfter: StateReader): boolean;
  /** Executes the transaction again. */
  linesOf(hash: Hash): Promise<readonly string[]>;
};

export function createConsoleWatch(tracing: Pick<ExecutionPort, "traceTransaction">): ConsoleWatch {
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
      const top = JSON.parse(
        textString(await tracing.traceTransaction({ hash, request })),
      ) as CallFrame;
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
