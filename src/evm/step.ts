import type { Halt } from "./halts.ts";
import { frame, globals, record, TRACE_KEY, WORD } from "./layout.ts";
import type { Session } from "./session.ts";
import type { Step } from "./tracer.ts";

/**
 * The opcode at `frame.pc` as the step hook sees it: paid for, not yet run. Stack, memory and return data are read when
 * asked for, so only while the hook runs.
 */
export function stepOf({ memory, records, journal, depth }: Session, halt?: Halt): Step {
  const pc = memory.get32(frame.pc);
  const step: Step = {
    pc: pc - memory.get32(frame.code),
    opcode: memory.bytes[pc]!,
    gas: memory.get64(globals.stepGas),
    gasCost: memory.get64(globals.stepCost),
    depth,
    address: records.addressOf(memory.get32(frame.account)),
    stack: () => {
      const words: bigint[] = [];
      const top = memory.get32(frame.sp);
      for (let at = memory.get32(frame.stackBase) - WORD; at >= top; at -= WORD) {
        words.push(memory.word(at));
      }
      return words;
    },
    memory: () => {
      const begin = memory.get32(frame.memory);
      return memory.bytes.slice(begin, begin + memory.get32(globals.stepMemorySize));
    },
    returnData: () => {
      const begin = memory.get32(frame.returnData);
      return memory.bytes.slice(begin, begin + memory.get32(frame.returnDataSize));
    },
    storage: (slot) => {
      memory.setHex(TRACE_KEY, slot);
      const entry = journal.find(memory.get32(frame.account), TRACE_KEY);
      return memory.word(entry + record.value);
    },
    refund: BigInt.asIntN(64, memory.get64(globals.refund)),
  };
  return halt === undefined ? step : { ...step, halt };
}
