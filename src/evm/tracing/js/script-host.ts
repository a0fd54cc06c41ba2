import { type Address, addressFromBytes, addressToBytes } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { hashFromBigint, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import { create2Address, createAddress } from "../../machine/contract-creation.ts";
import type { FrameEnd, FrameStart, Step, StepAccount } from "../../machine/tracer.ts";
import type { StateReader } from "../../state/reader.ts";
import type { TracedOutcome, TracedTransaction } from "../tracer-config.ts";
import { ask, cell, DATA_MAX, WINDOW } from "./guest-objects.ts";
import type { QuickJs, ScriptEngine } from "./quickjs.ts";

/** Most a script may send at once: init code for toContract2. */
const SENT_BYTES_MAX = 1024 * 1024;
const MASK_64 = (1n << 64n) - 1n;

/** Answers what a script asks of the step, frame or result it is shown. */
export class ScriptHost {
  readonly #quickJs: QuickJs;
  readonly #message: TracedTransaction["message"];
  #step: Step | undefined;
  #frame: FrameInput | undefined;
  #start: FrameStart | undefined;
  #end: FrameEnd | undefined;
  #error = "";
  #failure: string | undefined;
  /** The item the script reads. */
  #item: Uint8Array = EMPTY_BYTES;
  #sent: Uint8Array = EMPTY_BYTES;
  /** Between steps: the state before the transaction, at last that after it. */
  #resting: StateReader;
  #output: Uint8Array = EMPTY_BYTES;

  constructor({ quickJs }: ScriptEngine, { message, state }: Pick<TracedTransaction, "message" | "state">) {
    this.#quickJs = quickJs;
    this.#message = message;
    this.#resting = state;
  }

  /** Why the script must fail, whatever it caught. */
  get failure(): string | undefined {
    return this.#failure;
  }

  onCall(): void {
    const asked = this.#cells();
    const [first, second] = [asked[cell.first]!, asked[cell.second]!];
    const answer = this.#answers[asked[cell.request]!];
    const found = answer?.(first, second) ?? this.#fail("unknown request");
    this.#cells()[cell.found] = found;
  }

  /** @param error what getError() returns */
  atStep(step: Step, frame: FrameInput | undefined, error: string | undefined): void {
    this.#step = step;
    this.#frame = frame;
    this.#error = error ?? "";
    const shown = this.#cells();
    shown[cell.pc] = step.pc;
    shown[cell.gas] = step.gasNumber;
    shown[cell.cost] = step.gasCostNumber;
    shown[cell.depth] = step.depth + 1;
    shown[cell.refund] = step.refund === 0n ? 0 : Number(step.refund);
    shown[cell.opcode] = step.opcode;
    shown[cell.hasError] = error === undefined ? 0 : 1;
  }

  atFrame(start: FrameStart): void {
    this.#start = start;
    this.#cells()[cell.frameGas] = Number(start.gas);
  }

  /** @param error what getError() returns */
  atExit(end: FrameEnd, error: string | undefined): void {
    this.#end = end;
    this.#error = error ?? "";
    const shown = this.#cells();
    shown[cell.frameGas] = Number(end.gasUsed);
    shown[cell.hasError] = error === undefined ? 0 : 1;
  }

  /** @param output of the outermost frame, with code that a creation rejected */
  atEnd({ result, after }: TracedOutcome, output = result.returnData): void {
    this.#step = undefined;
    this.#resting = after;
    this.#output = output;
  }

  readonly #answers: Readonly<Record<number, (first: number, second: number) => number>> = {
    [ask.stackWord]: (index) =>
      this.#step !== undefined && index >= 0 && index < this.#stackLength()
        ? this.#word(this.#step.stackWord(index))
        : 0,
    [ask.stackLength]: () => this.#stackLength(),
    [ask.memoryLength]: () => this.#step?.memoryLength() ?? 0,
    [ask.memory]: (from, to) => this.#memory(from, to),
    [ask.caller]: () => this.#load(bytesOf(this.#frame?.caller)),
    [ask.address]: () => this.#load(bytesOf(this.#step?.address)),
    [ask.callValue]: () => this.#word(this.#frame?.value ?? 0n),
    [ask.callInput]: () => this.#load(this.#frame?.input ?? EMPTY_BYTES),
    [ask.error]: () => this.#load(Buffer.from(this.#error, "latin1")),
    [ask.frameType]: () => this.#load(Buffer.from(this.#start?.type ?? "", "latin1")),
    [ask.frameFrom]: () => this.#load(bytesOf(this.#start?.from)),
    [ask.frameTo]: () => this.#load(bytesOf(this.#start?.to)),
    [ask.frameInput]: () => this.#load(this.#start?.input ?? EMPTY_BYTES),
    [ask.frameValue]: () =>
      this.#start === undefined || this.#start.type === "STATICCALL" ? 0 : this.#word(this.#start.value),
    [ask.frameOutput]: () => this.#load(this.#end?.output ?? EMPTY_BYTES),
    [ask.balance]: () => this.#word(this.#account()?.balance ?? 0n),
    [ask.nonce]: () => Number(this.#account()?.nonce ?? 0n),
    [ask.code]: () => this.#load(this.#account()?.code ?? EMPTY_BYTES),
    [ask.state]: () => this.#load(hashToBytes(hashFromBigint(this.#storage()))),
    [ask.exists]: () => (this.#account() === undefined ? 0 : 1),
    [ask.contractAddress]: (nonce) =>
      this.#load(addressToBytes(createAddress(this.#sentAddress(), BigInt.asUintN(64, BigInt(nonce))))),
    [ask.contractAddress2]: () =>
      this.#load(
        addressToBytes(
          create2Address(this.#sentAddress(), hashFromBytes(this.#sent.subarray(20, 52)), this.#sent.subarray(52)),
        ),
      ),
    [ask.input]: () => this.#load(this.#message.data),
    [ask.output]: () => this.#load(this.#output),
    [ask.read]: (from) => this.#read(from),
    [ask.send]: (isFirst) => this.#receive(isFirst === 1),
    [ask.failure]: () => this.#fail(Buffer.from(this.#sent).toString("latin1")),
  };

  #cells(): Float64Array {
    return this.#quickJs.windowWords();
  }

  #putWord(value: bigint): void {
    const bytes = this.#quickJs.windowBytes();
    const words = new BigUint64Array(bytes.buffer, bytes.byteOffset + WINDOW.data, 4);
    for (let i = 0; i < 4; i++) words[i] = (value >> BigInt(64 * i)) & MASK_64;
  }

  #account(): StepAccount | undefined {
    const address = this.#sentAddress();
    if (this.#step !== undefined) return this.#step.account(address);
    const resting = this.#resting;
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

  #storage(): bigint {
    const slot = hashFromBytes(this.#sent.subarray(20, 52));
    return this.#step !== undefined
      ? this.#step.storage(slot, this.#sentAddress())
      : this.#resting.storage(this.#sentAddress(), slot);
  }

  #sentAddress(): Address {
    return addressFromBytes(this.#sent.subarray(0, 20));
  }

  /** Answers with an item. */
  #load(bytes: Uint8Array): 1 {
    this.#item = bytes;
    this.#cells()[cell.size] = bytes.length;
    return 1;
  }

  #memory(from: number, to: number): number {
    if (!this.#step) return this.#load(new Uint8Array(to - from));
    const size = this.#step.memoryLength();
    const part = this.#step.memory(Math.min(from, size), Math.min(to, size));
    if (part.length === to - from) return this.#load(part);
    const padded = new Uint8Array(to - from);
    padded.set(part);
    return this.#load(padded);
  }

  #word(value: bigint): 1 {
    this.#putWord(value);
    return 1;
  }

  #read(from: number): number {
    const part = this.#item.subarray(from, from + DATA_MAX);
    this.#quickJs.windowBytes().set(part, WINDOW.data);
    this.#cells()[cell.size] = part.length;
    return 1;
  }

  #receive(isFirst: boolean): number {
    const size = Math.min(this.#cells()[cell.size]!, DATA_MAX);
    const bytes = this.#quickJs.windowBytes();
    const part = bytes.slice(WINDOW.data, WINDOW.data + size);
    if (isFirst) {
      this.#sent = part;
      return 1;
    }
    if (this.#sent.length + part.length > SENT_BYTES_MAX) return this.#fail("too much data");
    const all = new Uint8Array(this.#sent.length + part.length);
    all.set(this.#sent);
    all.set(part, this.#sent.length);
    this.#sent = all;
    return 1;
  }

  #fail(reason: string): number {
    this.#failure ??= reason;
    this.#cells()[cell.hasFailed] = 1;
    return 0;
  }

  #stackLength(): number {
    return this.#step?.stackLength() ?? 0;
  }
}

function bytesOf(address: Address | undefined): Uint8Array {
  return address === undefined ? EMPTY_BYTES : addressToBytes(address);
}

/** What a running frame was given, as CALLER, CALLVALUE and CALLDATA show it. */
type FrameInput = {
  readonly caller: Address;
  readonly value: bigint;
  readonly input: Uint8Array;
};

/** The frames that are open, from a tracer's hooks. */
export class FrameStack {
  readonly #frames: FrameInput[] = [];

  enter({ type, from, value, input }: FrameStart): void {
    const parent = this.top();
    const isCreation = type === "CREATE" || type === "CREATE2";
    const own = isCreation ? EMPTY_BYTES : input;
    // DELEGATECALL runs with its parent's caller and value.
    if (type === "DELEGATECALL" && parent) this.#frames.push({ ...parent, input: own });
    else this.#frames.push({ caller: from, value: type === "STATICCALL" ? 0n : value, input: own });
  }

  exit(): void {
    this.#frames.pop();
  }

  /** The innermost one; undefined before the first. */
  top(): FrameInput | undefined {
    return this.#frames.at(-1);
  }
}
