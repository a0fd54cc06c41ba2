import { create2Address, createAddress } from "../../evm/contract-creation.ts";
import type { FrameEnd, FrameStart, Step, StepAccount } from "../../evm/tracer.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { hashFromBigint, hashFromBytes, hashToBytes } from "../../primitives/hash.ts";
import type { StateReader } from "../../state/reader.ts";
import type { TracedOutcome, TracedTransaction } from "../tracer-config.ts";
import { ask, cell, DATA_MAX, WINDOW } from "./guest-objects.ts";
import type { ScriptEngine } from "./quickjs.ts";

/** Most a script may send at once: init code for toContract2. */
const SENT_BYTES_MAX = 1024 * 1024;
const MASK_64 = (1n << 64n) - 1n;

/** Answers what a script asks of the step, frame or result it is shown. */
type ScriptHost = {
  onCall(): void;
  /** `error` is what getError() returns. */
  atStep(step: Step, frame: FrameInput | undefined, error: string | undefined): void;
  atFrame(start: FrameStart): void;
  atExit(end: FrameEnd, error: string | undefined): void;
  atEnd(outcome: TracedOutcome): void;
  /** Why the script must fail, whatever it caught. */
  failure(): string | undefined;
};

export function createScriptHost(
  { quickJs }: ScriptEngine,
  { message, state }: Pick<TracedTransaction, "message" | "state">,
): ScriptHost {
  let step: Step | undefined;
  let frame: FrameInput | undefined;
  let start: FrameStart | undefined;
  let end: FrameEnd | undefined;
  let error = "";
  let failure: string | undefined;
  /** The item the script reads. */
  let item: Uint8Array = EMPTY_BYTES;
  let sent: Uint8Array = EMPTY_BYTES;
  /** Between steps: the state before the transaction, at last that after it. */
  let resting: StateReader = state;
  let output: Uint8Array = EMPTY_BYTES;

  const cells = () => quickJs.windowWords();

  function putWord(value: bigint): void {
    const bytes = quickJs.windowBytes();
    const words = new BigUint64Array(bytes.buffer, bytes.byteOffset + WINDOW.data, 4);
    for (let i = 0; i < 4; i++) words[i] = (value >> BigInt(64 * i)) & MASK_64;
  }

  function account(): StepAccount | undefined {
    const address = sentAddress();
    if (step !== undefined) return step.account(address);
    const found = resting.account(address);
    return (
      found && {
        balance: found.balance,
        nonce: found.nonce,
        get code() {
          return resting.code(found.codeHash);
        },
      }
    );
  }

  function storage(): bigint {
    const slot = hashFromBytes(sent.subarray(20, 52));
    return step !== undefined
      ? step.storage(slot, sentAddress())
      : resting.storage(sentAddress(), slot);
  }

  const sentAddress = (): Address => addressFromBytes(sent.subarray(0, 20));

  /** Answers with an item. @returns `found` */
  function load(bytes: Uint8Array, found = 1): number {
    item = bytes;
    cells()[cell.size] = bytes.length;
    return found;
  }

  function memory(from: number, to: number): number {
    if (!step) return load(new Uint8Array(to - from));
    const size = step.memoryLength();
    const part = step.memory(Math.min(from, size), Math.min(to, size));
    if (part.length === to - from) return load(part);
    const padded = new Uint8Array(to - from);
    padded.set(part);
    return load(padded);
  }

  function word(value: bigint, found = 1): number {
    putWord(value);
    return found;
  }

  function read(from: number): number {
    const part = item.subarray(from, from + DATA_MAX);
    quickJs.windowBytes().set(part, WINDOW.data);
    cells()[cell.size] = part.length;
    return 1;
  }

  function receive(isFirst: boolean): number {
    const size = Math.min(cells()[cell.size]!, DATA_MAX);
    const bytes = quickJs.windowBytes();
    const part = bytes.slice(WINDOW.data, WINDOW.data + size);
    if (isFirst) {
      sent = part;
      return 1;
    }
    if (sent.length + part.length > SENT_BYTES_MAX) return fail("too much data");
    const all = new Uint8Array(sent.length + part.length);
    all.set(sent);
    all.set(part, sent.length);
    sent = all;
    return 1;
  }

  function fail(reason: string): number {
    failure ??= reason;
    cells()[cell.hasFailed] = 1;
    return 0;
  }

  const stackLength = () => step?.stackLength() ?? 0;
  const bytesOf = (address: Address | undefined) =>
    address === undefined ? EMPTY_BYTES : addressToBytes(address);

  const answers: Readonly<Record<number, (first: number, second: number) => number>> = {
    [ask.stackWord]: (index) =>
      step !== undefined && index >= 0 && index < stackLength() ? word(step.stackWord(index)) : 0,
    [ask.stackLength]: stackLength,
    [ask.memoryLength]: () => step?.memoryLength() ?? 0,
    [ask.memory]: memory,
    [ask.caller]: () => load(bytesOf(frame?.caller)),
    [ask.address]: () => load(bytesOf(step?.address)),
    [ask.callValue]: () => word(frame?.value ?? 0n),
    [ask.callInput]: () => load(frame?.input ?? EMPTY_BYTES),
    [ask.error]: () => load(Buffer.from(error, "latin1")),
    [ask.frameType]: () => load(Buffer.from(start?.type ?? "", "latin1")),
    [ask.frameFrom]: () => load(bytesOf(start?.from)),
    [ask.frameTo]: () => load(bytesOf(start?.to)),
    [ask.frameInput]: () => load(start?.input ?? EMPTY_BYTES),
    [ask.frameValue]: () =>
      start === undefined || start.type === "STATICCALL" ? 0 : word(start.value),
    [ask.frameOutput]: () => load(end?.output ?? EMPTY_BYTES),
    [ask.balance]: () => word(account()?.balance ?? 0n),
    [ask.nonce]: () => Number(account()?.nonce ?? 0n),
    [ask.code]: () => load(account()?.code ?? EMPTY_BYTES),
    [ask.state]: () => load(hashToBytes(hashFromBigint(storage()))),
    [ask.exists]: () => (account() === undefined ? 0 : 1),
    [ask.contractAddress]: (nonce) =>
      load(addressToBytes(createAddress(sentAddress(), BigInt.asUintN(64, BigInt(nonce))))),
    [ask.contractAddress2]: () =>
      load(
        addressToBytes(
          create2Address(sentAddress(), hashFromBytes(sent.subarray(20, 52)), sent.subarray(52)),
        ),
      ),
    [ask.input]: () => load(message.data),
    [ask.output]: () => load(output),
    [ask.read]: read,
    [ask.send]: (isFirst) => receive(isFirst === 1),
    [ask.failure]: () => fail(Buffer.from(sent).toString("latin1")),
  };

  return {
    onCall() {
      const asked = cells();
      const [first, second] = [asked[cell.first]!, asked[cell.second]!];
      const found = answers[asked[cell.request]!]?.(first, second) ?? fail("unknown request");
      cells()[cell.found] = found;
    },
    atStep(shown, given, text) {
      step = shown;
      frame = given;
      error = text ?? "";
      const shownCells = cells();
      shownCells[cell.pc] = shown.pc;
      shownCells[cell.gas] = Number(shown.gas);
      shownCells[cell.cost] = Number(shown.gasCost);
      shownCells[cell.depth] = shown.depth + 1;
      shownCells[cell.refund] = Number(shown.refund);
      shownCells[cell.opcode] = shown.opcode;
      shownCells[cell.hasError] = text === undefined ? 0 : 1;
    },
    atFrame(begun) {
      start = begun;
      cells()[cell.frameGas] = Number(begun.gas);
    },
    atExit(ended, text) {
      end = ended;
      error = text ?? "";
      const shown = cells();
      shown[cell.frameGas] = Number(ended.gasUsed);
      shown[cell.hasError] = text === undefined ? 0 : 1;
    },
    atEnd({ result, after }) {
      step = undefined;
      resting = after;
      output = result.returnData;
    },
    failure: () => failure,
  };
}

/** What a running frame was given, as CALLER, CALLVALUE and CALLDATA show it. */
export type FrameInput = {
  readonly caller: Address;
  readonly value: bigint;
  readonly input: Uint8Array;
};

/** The frames that are open, from a tracer's hooks. */
type FrameStack = {
  enter(start: FrameStart): void;
  exit(): void;
  /** The innermost one; undefined before the first. */
  top(): FrameInput | undefined;
};

export function createFrameStack(): FrameStack {
  const frames: FrameInput[] = [];
  return {
    enter({ type, from, value, input }) {
      const parent = frames.at(-1);
      const isCreation = type === "CREATE" || type === "CREATE2";
      const own = isCreation ? EMPTY_BYTES : input;
      // DELEGATECALL runs with its parent's caller and value.
      if (type === "DELEGATECALL" && parent) frames.push({ ...parent, input: own });
      else frames.push({ caller: from, value: type === "STATICCALL" ? 0n : value, input: own });
    },
    exit() {
      frames.pop();
    },
    top: () => frames.at(-1),
  };
}
