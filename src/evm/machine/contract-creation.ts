import { codeSizeMaxOf } from "../../base/params/execution-limits.ts";
import { CODE_DEPOSIT_BYTE_GAS, KECCAK_WORD_GAS, STATE_GAS } from "../../base/params/gas.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToBytes, concatBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256, keccak256Hash } from "../../base/primitives/keccak.ts";
import { encodeRlp } from "../../base/primitives/rlp.ts";
import { endWithoutFrame, popFrame, pushFrame, useOwnCode } from "./frames.ts";
import { frameOutcome, type Halt } from "./halts.ts";
import { traceEnter } from "./hooks/trace-frames.ts";
import { DEPTH_MAX, flag, frame, globals, record, request, WORD } from "./memory/layout.ts";
import { CREATE2 } from "./opcodes.ts";
import { accountOf, type FrameResult, halted, logTransfer, type Session } from "./session.ts";

/** Address of the contract that `creator` makes at `nonce` (Yellow Paper 7, equation 88). */
export function createAddress(creator: Address, nonce: bigint): Address {
  const item = encodeRlp([addressToBytes(creator), bigintToBytes(nonce)]);
  return addressFromBytes(keccak256(item).subarray(12));
}

/** Address of the contract that `creator` makes with CREATE2 (EIP-1014). */
export function create2Address(creator: Address, salt: Hash, initCode: Uint8Array): Address {
  const preimage = concatBytes(Uint8Array.of(0xff), addressToBytes(creator), hashToBytes(salt), keccak256(initCode));
  return addressFromBytes(keccak256(preimage).subarray(12));
}

const NONCE_MAX = (1n << 64n) - 1n;

/**
 * CREATE and CREATE2: finds the new address, raises the creator's nonce, and begins the creation.
 * @returns why the creator halts, where it does
 */
export function create(session: Session): Halt | undefined {
  const { memory, journal, records, rules } = session;
  const creator = memory.get32(frame.account);
  const nonce = memory.get64(creator + record.nonce);
  const address =
    memory.get32(request.opcode) === CREATE2
      ? create2Address(records.addressOf(creator), memory.hash(request.salt), initCode(session))
      : createAddress(records.addressOf(creator), nonce);
  memory.set32(request.output, 0);
  memory.set32(request.outputSize, 0);
  memory.set32(request.target, accountOf(session, address));
  const rejection = creationHalt(session, creator, nonce);
  if (rules.eip8037) {
    if (rejection) {
      refuseCreation(session);
      return undefined;
    }
    if (!payForAccount(session, memory.get32(request.target))) return { kind: "outOfGas" };
  }
  if (session.tracer) traceEnter(session);
  if (rejection) {
    endWithoutFrame(session, halted(rejection), "all");
    return undefined;
  }
  journal.save(creator + record.meta);
  memory.set64(creator + record.nonce, nonce + 1n);
  journal.mark(creator, flag.dirty | flag.touched);
  // The address stays warm when the creation fails (EIP-2929).
  if (rules.eip2929) journal.mark(memory.get32(request.target), flag.warm);
  beginCreation(session);
  return undefined;
}

/** From Amsterdam on a creation that cannot begin costs nothing and looks at no account, and tracers do not see it. */
function refuseCreation({ memory, journal }: Session): void {
  memory.set64(globals.gasBack, 0n);
  memory.set32(request.accountPaid, 0);
  journal.endRequest(frameOutcome.halt, 0, 0);
}

/** EIP-8037: the creator pays for the new account, before its gas is divided. False where it cannot. */
function payForAccount({ memory, journal }: Session, created: number): boolean {
  journal.reach(created);
  const isNew = journal.isEmpty(created);
  if (isNew && !journal.chargeFrame(0, Number(STATE_GAS.account))) return false;
  memory.set32(request.accountPaid, isNew);
  journal.forwardGas();
  return true;
}

/** The creation of a transaction: its address is known and the sender's nonce raised. */
export function enterCreation(session: Session): void {
  const { memory } = session;
  if (session.tracer) traceEnter(session);
  if (!session.journal.hasBalance(memory.get32(frame.account), request.value)) {
    endWithoutFrame(session, halted({ kind: "insufficientBalance" }), "all");
    return;
  }
  beginCreation(session);
}

function creationHalt({ journal, depth }: Session, creator: number, nonce: bigint) {
  if (depth >= DEPTH_MAX) return { kind: "callDepth" } as const;
  if (!journal.hasBalance(creator, request.value)) return { kind: "insufficientBalance" } as const;
  return nonce === NONCE_MAX ? ({ kind: "nonceOverflow" } as const) : undefined;
}

function beginCreation(session: Session): void {
  const { memory, journal, rules } = session;
  const creator = memory.get32(frame.account);
  const created = memory.get32(request.target);
  if (isTaken(session, created)) {
    endWithoutFrame(session, halted({ kind: "addressCollision" }), "none");
    return;
  }
  if (!journal.hasRoom(created, request.value)) {
    endWithoutFrame(session, halted({ kind: "balanceOverflow" }), "all");
    return;
  }
  const snapshot = memory.get32(globals.undoTop);
  journal.mark(created, flag.exists | flag.dirty | flag.touched | flag.created);
  if (rules.eip158) {
    journal.save(created + record.meta);
    memory.set64(created + record.nonce, 1n);
  }
  if (!memory.isZeroWord(request.value)) {
    journal.subBalance(creator, request.value);
    journal.addBalance(created, request.value);
  }
  const code = initCode(session);
  pushFrame(session, snapshot);
  if (rules.eip7708 && creator !== created) logTransfer(session, creator, created, session.depth);
  memory.set32(frame.inputSize, 0);
  memory.set32(frame.account, created);
  memory.copyWord(frame.caller, creator + record.key);
  memory.copyWord(frame.value, request.value);
  useOwnCode(session, code);
}

/** EIP-684: there is a nonce or code; until Amsterdam storage as well (EIP-7610). */
function isTaken({ memory, records, rules, state }: Session, created: number): boolean {
  return (
    memory.get64(created + record.nonce) !== 0n ||
    memory.get32(created + record.codeSize) !== 0 ||
    (!rules.eip8037 && state.hasStorage(records.addressOf(created)))
  );
}

function initCode({ memory }: Session): Uint8Array {
  const begin = memory.get32(request.input);
  return memory.bytes.slice(begin, begin + memory.get32(request.inputSize));
}

/** Ends a frame of a creation: what a successful one returns becomes the code of the account. */
export function endCreation(session: Session, frameResult: FrameResult): void {
  if (frameResult.outcome !== "success") {
    popFrame(session, frameResult, false);
    return;
  }
  const { memory } = session;
  const code = memory.bytes.slice(frameResult.output, frameResult.output + frameResult.outputSize);
  const halt = chargeDeposit(session, code);
  if (halt === undefined) {
    if (code.length > 0) deposit(session, memory.get32(frame.account), code);
    popFrame(session, frameResult, true);
  } else if (halt.kind === "codeStoreOutOfGas" && !session.rules.homestead) {
    // In Frontier the account stays, without code.
    popFrame(session, { ...frameResult, outputSize: 0 }, true);
  } else {
    // Tracers see the code that was rejected, as geth's do.
    popFrame(session, halted(halt), false, { ...frameResult, outcome: "halt", halt });
  }
}

/** Takes the gas of `code`, or tells why it cannot be deployed: EIP-3541, then its gas, then its size (EIP-170); from Amsterdam its size first. */
function chargeDeposit({ memory, journal, rules, block }: Session, code: Uint8Array): Halt | undefined {
  if (rules.eip3541 && code[0] === 0xef) return { kind: "invalidCode" };
  const limit = codeSizeMaxOf(rules.hardfork, block);
  const isTooLong = rules.eip158 && code.length > limit;
  const tooLong = { kind: "codeSizeExceeded", size: code.length, limit } as const;
  if (rules.eip8037) {
    if (isTooLong) return tooLong;
    const execution = Number(KECCAK_WORD_GAS) * Math.ceil(code.length / WORD);
    const isPaid = journal.chargeFrame(execution, Number(STATE_GAS.codeByte) * code.length);
    return isPaid ? undefined : { kind: "codeStoreOutOfGas" };
  }
  const gas = memory.get64(frame.gas);
  const cost = CODE_DEPOSIT_BYTE_GAS * BigInt(code.length);
  if (cost > gas) return { kind: "codeStoreOutOfGas" };
  if (isTooLong) return tooLong;
  memory.set64(frame.gas, gas - cost);
  return undefined;
}

function deposit({ memory, journal, codes }: Session, account: number, bytes: Uint8Array): void {
  const code = codes.add(keccak256Hash(bytes), bytes);
  journal.save(account + record.meta);
  journal.save(account + record.original);
  memory.set32(account + record.codeId, code.id);
  memory.set32(account + record.codeSize, bytes.length);
  memory.setHex(account + record.original, code.hash);
}
