import { SYSTEM_ADDRESS } from "../../../base/params/gas.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Log } from "../../../base/types/receipt.ts";
import { transferLog } from "../../../base/types/transfer-log.ts";
import { frame, globals, LOG_TOPICS, LOGS, LOGS_END, logEntry, record, WORD } from "./layout.ts";
import type { LinearMemory } from "./linear-memory.ts";

const WORD_DIGITS = 2 * WORD;
const ADDRESS_DIGITS = 40;

/** Most bytes of header, address, topics and rounding: where the last log of the region must end. */
const MARGIN = 256;

/**
 * The logs of one execution. Emitted code writes them to the log region; when it is full, or a tracer wants each log, they
 * come here one by one and what the region holds moves here before them.
 */
export class Logs {
  readonly #memory: LinearMemory;
  #moved: Log[] = [];

  constructor(memory: LinearMemory, isTraced: boolean) {
    this.#memory = memory;
    this.#empty();
    memory.set32(globals.logEnd, isTraced ? LOGS : LOGS_END - MARGIN);
  }

  get #count(): number {
    return this.#moved.length + this.#memory.get32(globals.logCount);
  }

  /** Notes in the frame registers what `revert` goes back to. */
  markFrame(): void {
    const memory = this.#memory;
    memory.set32(frame.logCount, this.#count);
    memory.set32(frame.logTop, memory.get32(globals.logTop));
  }

  /** Undoes the logs emitted since the running frame began. */
  revert(): void {
    const memory = this.#memory;
    const count = memory.get32(frame.logCount);
    if (count <= this.#moved.length) {
      // The frame may have begun before the region was emptied, so its `logTop` may mean nothing.
      this.#moved.length = count;
      this.#empty();
    } else {
      memory.set32(globals.logTop, memory.get32(frame.logTop));
      memory.set32(globals.logCount, count - this.#moved.length);
    }
  }

  /** Adds the running frame's log with its topics at LOG_TOPICS. */
  append(topicCount: number, data: number, size: number): Log {
    const memory = this.#memory;
    const log: Log = {
      address: memory.address(memory.get32(frame.account) + record.key),
      topics: topicsOf(memory.digits(LOG_TOPICS, topicCount * WORD), 0),
      data: memory.bytes.slice(data, data + size),
    };
    this.#add(log);
    return log;
  }

  /** Adds the log of a transfer of `value` wei (EIP-7708). */
  appendTransfer(from: Address, to: Address, value: bigint): Log {
    const log = transferLog(SYSTEM_ADDRESS, from, to, value);
    this.#add(log);
    return log;
  }

  /** What the region holds moves before it. */
  #add(log: Log): void {
    for (const earlier of this.#decode()) this.#moved.push(earlier);
    this.#empty();
    this.#moved.push(log);
  }

  /** All logs. */
  take(): readonly Log[] {
    return this.#moved.length === 0 ? this.#decode() : [...this.#moved, ...this.#decode()];
  }

  /** What the region holds. */
  #decode(): Log[] {
    const memory = this.#memory;
    const end = memory.get32(globals.logTop);
    if (end === LOGS) return [];
    // The data of all logs are views of one copy, which takes less time than a copy for each.
    const bytes = memory.bytes.slice(LOGS, end);
    const logs: Log[] = [];
    for (let at = LOGS; at < end; ) {
      const topicCount = memory.get32(at + logEntry.topicCount);
      const size = memory.get32(at + logEntry.dataSize);
      const begin = at + logEntry.address;
      const data = at + logEntry.topics + topicCount * WORD;
      const digits = memory.digits(begin, data - begin);
      logs.push({
        address: `0x${digits.slice(WORD_DIGITS - ADDRESS_DIGITS, WORD_DIGITS)}` as Address,
        topics: topicsOf(digits, WORD_DIGITS),
        data: bytes.subarray(data - LOGS, data - LOGS + size),
      });
      at = (data + size + 15) & -16;
    }
    return logs;
  }

  #empty(): void {
    this.#memory.set32(globals.logTop, LOGS);
    this.#memory.set32(globals.logCount, 0);
  }
}

function topicsOf(digits: string, begin: number): Hash[] {
  const topics: Hash[] = [];
  for (let at = begin; at < digits.length; at += WORD_DIGITS) {
    topics.push(`0x${digits.slice(at, at + WORD_DIGITS)}` as Hash);
  }
  return topics;
}
