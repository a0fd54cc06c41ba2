import { addressFromBytes } from "../../base/primitives/address.ts";
import { notifyStep, StepPriced } from "./hooks/step.ts";
import { traceSelfDestruct } from "./hooks/trace-frames.ts";
import { flag, frame, record, request } from "./memory/layout.ts";
import type { HostFunctions } from "./modules/interpreters.ts";
import { accountOf, LinearMemoryExhausted, logTransfer, OutOfTime, type Session } from "./session.ts";

/** Steps between two readings of the clock: one costs 40 ns, a traced step a thousand and more, so gas says nothing of its time. */
const STEPS_PER_CHECK = 16;

/** What the emitted code asks of TypeScript; `current` gives the execution it belongs to. */
export function createHost(current: () => Session): HostFunctions {
  let steps = 0;
  return {
    isOutOfTime: () => (current().isOutOfTime?.() ? 1 : 0),
    load: (entry) => current().records.load(entry),
    access: (entry) => {
      const session = current();
      if (session.onAccess) reportAccess(session, entry);
    },
    delegate: (account) => delegateOf(current(), account),
    exhausted: () => {
      throw new LinearMemoryExhausted();
    },
    blockHash: (word) => {
      const { memory, block } = current();
      const number = memory.word(word);
      const latest = BigInt(block.number);
      const isKnown = number < latest && number + 256n >= latest;
      const hash = isKnown ? block.blockHash(Number(number)) : undefined;
      if (hash === undefined) memory.setWord(word, 0n);
      else memory.setHex(word, hash);
    },
    extCodeCopy: (account, target, offset, size) => {
      const { memory, codes } = current();
      const { bytes: code } = codes.byId(memory.get32(account + record.codeId));
      const begin = memory.word(offset);
      const part = begin >= code.length ? undefined : code.subarray(Number(begin)).subarray(0, size);
      const { bytes } = memory;
      if (part) bytes.set(part, target);
      bytes.fill(0, target + (part?.length ?? 0), target + size);
    },
    log: (topicCount, data, size) => {
      const session = current();
      const log = session.logs.append(topicCount, data, size);
      session.tracer?.onLog?.(log, session.depth);
    },
    step: () => {
      const session = current();
      const { memory } = session;
      if (session.isPricing) throw new StepPriced();
      // Empty init code has no opcode to show.
      if (memory.get32(frame.codeSize) === 0) return;
      if (++steps % STEPS_PER_CHECK === 0 && session.isOutOfTime?.()) throw new OutOfTime();
      notifyStep(session);
    },
  };
}

/** The account whose code a delegated account runs (EIP-7702); a second delegation is not followed. */
export function delegateOf(session: Session, account: number): number {
  const { memory, codes } = session;
  const { bytes } = codes.byId(memory.get32(account + record.codeId));
  const target = accountOf(session, addressFromBytes(bytes.subarray(3)));
  // Code that is itself a delegation does not run: 0xef is not an opcode.
  return target;
}

function reportAccess({ memory, records, onAccess }: Session, entry: number): void {
  const owner = memory.get32(entry + record.owner);
  if (owner === 0) onAccess?.(records.addressOf(entry), undefined);
  else onAccess?.(records.addressOf(owner), memory.hash(entry + record.key));
}

/**
 * SELFDESTRUCT of the running account in favour of `request.target` (Yellow Paper 9.4, A_s). From Cancun the account goes
 * only when this transaction created it; the balance moves always (EIP-6780).
 */
export function selfDestruct(session: Session): void {
  const { memory, journal, rules } = session;
  const account = memory.get32(frame.account);
  const target = memory.get32(request.target);
  const isDeleted = !rules.eip6780 || (memory.get32(account + record.flags) & flag.created) !== 0;

  memory.copyWord(request.value, account + record.value);
  if (rules.eip7708 && target !== account) logTransfer(session, account, target, session.depth);
  if (session.tracer) traceSelfDestruct(session, target);
  journal.subBalance(account, request.value);
  journal.addBalance(target, request.value);
  if (!isDeleted) return;
  // What it gave to itself is lost, until Amsterdam.
  if (target === account && !rules.eip8246) journal.subBalance(account, request.value);
  journal.mark(account, flag.selfDestructed);
}
