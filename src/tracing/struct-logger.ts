import { haltText } from "../evm/halt-text.ts";
import { opcodeName } from "../evm/opcodes.ts";
import type { Step } from "../evm/tracer.ts";
import type { Address } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex, hexDigits } from "../primitives/hex.ts";
import type { TracedTransaction, TransactionTracer } from "./transaction-tracer.ts";

/** What each step of a struct log holds. */
export type StructLogConfig = {
  readonly enableMemory?: boolean;
  readonly disableStack?: boolean;
  readonly disableStorage?: boolean;
  readonly enableReturnData?: boolean;
  /** Steps to keep; 0: all */
  readonly limit?: number;
};

const SLOAD = 0x54;
const SSTORE = 0x55;
const WORD_DIGITS = 64;

/** Slots of one contract that were read or written so far. */
type SeenStorage = Map<Hash, bigint>;

/**
 * The tracer without a name: one record an opcode, as execution-apis has it (`debug_traceTransaction`): 0x everywhere,
 * optional members absent instead of null.
 */
export function createStructLogger(
  config: StructLogConfig,
  { budget }: Pick<TracedTransaction, "budget">,
): TransactionTracer {
  const { limit = 0 } = config;
  const steps: string[] = [];
  const storages = new Map<Address, SeenStorage>();
  return {
    hooks: {
      onStep(step) {
        const storage = config.disableStorage ? undefined : storageText(step, storages);
        if (limit > 0 && steps.length >= limit) return;
        const text = stepText(step, storage, config);
        budget.take(text.length + 1);
        steps.push(text);
      },
    },
    result({ result: { gasUsed, outcome, returnData } }) {
      return (
        `{"gas":${gasUsed},"failed":${outcome !== "success"}` +
        `,"returnValue":"${bytesToHex(returnData)}","structLogs":[${steps.join(",")}]}`
      );
    },
  };
}

function stepText(step: Step, storage: string | undefined, config: StructLogConfig): string {
  let text =
    `{"pc":${step.pc},"op":"${opcodeName(step.opcode)}","gas":${step.gas}` +
    `,"gasCost":${step.gasCost},"depth":${step.depth + 1}`;
  if (step.halt) text += `,"error":${JSON.stringify(haltText(step.halt))}`;
  if (!config.disableStack) {
    text += `,"stack":[${step.stack().map((word) => `"0x${word.toString(16)}"`)}]`;
  }
  if (config.enableReturnData) {
    const returnData = step.returnData();
    if (returnData.length > 0) text += `,"returnData":"${bytesToHex(returnData)}"`;
  }
  if (config.enableMemory) {
    const words = memoryWords(step.memory());
    if (words.length > 0) text += `,"memory":["${words.join('","')}"]`;
  }
  if (storage !== undefined) text += `,"storage":${storage}`;
  if (step.refund !== 0n) text += `,"refund":${step.refund}`;
  return `${text}}`;
}

/** For SLOAD and SSTORE: every slot of the contract seen so far, this one among them. */
function storageText(step: Step, storages: Map<Address, SeenStorage>): string | undefined {
  if (step.opcode !== SLOAD && step.opcode !== SSTORE) return undefined;
  const stack = step.stack();
  const key = stack.at(-1);
  const written = step.opcode === SSTORE ? stack.at(-2) : undefined;
  if (key === undefined || (step.opcode === SSTORE && written === undefined)) return undefined;
  let seen = storages.get(step.address);
  if (!seen) {
    seen = new Map();
    storages.set(step.address, seen);
  }
  const slot = hashFromBigint(key);
  seen.set(slot, written ?? step.storage(slot));
  const members = [...seen].map(([at, value]) => `"${at}":"${hashFromBigint(value)}"`);
  return `{${members.join(",")}}`;
}

/** 32-byte words; the last one is filled up with zeros. */
function memoryWords(memory: Uint8Array): string[] {
  const digits = hexDigits(memory);
  const words: string[] = [];
  for (let at = 0; at < digits.length; at += WORD_DIGITS) {
    words.push(`0x${digits.slice(at, at + WORD_DIGITS).padEnd(WORD_DIGITS, "0")}`);
  }
  return words;
}
