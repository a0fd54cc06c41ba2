import type { Tracer } from "../../evm/tracer.ts";
import type { Address } from "../../primitives/address.ts";
import { bigintToFixedBytes } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Log } from "../../types/receipt.ts";

/** A log of a simulated call. */
export type SimulatedLog = {
  readonly log: Log;
  /** In the block; logs taken back by a revert count too, so there may be holes. */
  readonly index: number;
};

/** The address that transfers of ether are logged under, as ERC-7528 names ether. */
const ETHER_ADDRESS = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee" as Address;

/** keccak256("Transfer(address,address,uint256)"), the event of ERC-20 */
const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef" as Hash;

/** Collects the logs of a block's calls; with `traceTransfers` also one for each transfer of ether. */
export type LogCollector = {
  readonly tracer: Tracer;
  /** The logs of the call that just ended, and makes ready for the next. */
  take(): readonly SimulatedLog[];
};

export function createLogCollector(traceTransfers: boolean): LogCollector {
  let count = 0;
  /** One list a frame that is still open; the first takes what the outermost frame leaves. */
  let open: SimulatedLog[][] = [[]];

  const add = (log: Log): void => {
    open.at(-1)!.push({ log, index: count });
    count++;
  };

  return {
    tracer: {
      onEnter({ type, from, to, value }) {
        open.push([]);
        // As geth: also for CALLCODE, which moves its value from an account to itself.
        if (traceTransfers && type !== "DELEGATECALL" && value > 0n)
          add(transferLog(from, to, value));
      },
      onExit({ outcome }) {
        const logs = open.pop()!;
        if (outcome === "success") open.at(-1)!.push(...logs);
      },
      onLog: add,
    },
    take() {
      const logs = open[0]!;
      open = [[]];
      return logs;
    },
  };
}

function transferLog(from: Address, to: Address, value: bigint): Log {
  return {
    address: ETHER_ADDRESS,
    topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)],
    data: bigintToFixedBytes(value, 32),
  };
}

function topicOf(address: Address): Hash {
  return `0x${address.slice(2).padStart(64, "0")}` as Hash;
}
