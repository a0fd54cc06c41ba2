import type { SentTransactions } from "../../../src/node/calls/following-speculation.ts";
import type { Random } from "../kernel/random.ts";

/** What happens to a call on its way to a thread and back. */
export type HandOver = {
  /** From the call to its execution: the store that the thread follows may have other blocks by then. */
  readonly beforeMs: number;
  /** From the execution to the answer: the block that it is for may be made, or removed. */
  readonly afterMs: number;
  /** The transactions are executed in another order than that in which they were sent. */
  readonly isShuffled: boolean;
  /** No answer comes; `afterMs` is when this is noticed. */
  readonly isLost: boolean;
};

export const PROMPT: HandOver = { beforeMs: 0, afterMs: 0, isShuffled: false, isLost: false };

/** Longer than most blocks take. */
const LATE_MS_MAX = 6_000;
/** Of a thread that hangs: the limit of the pool's owner. */
const HANGS_MS = 60_000;

/** Mostly prompt; late before or after the execution, in another order, or never. */
export function drawHandOver(random: Random): HandOver {
  const dice = random.fraction();
  const lateMs = random.fraction() ** 2 * LATE_MS_MAX;
  if (dice < 0.55) return PROMPT;
  if (dice < 0.7) return { ...PROMPT, beforeMs: lateMs };
  if (dice < 0.8) return { ...PROMPT, afterMs: lateMs };
  if (dice < 0.97) return { ...PROMPT, isShuffled: true, afterMs: dice < 0.9 ? 0 : lateMs / 4 };
  return { ...PROMPT, isLost: true, afterMs: dice < 0.99 ? 0 : HANGS_MS };
}

/** The same transactions in another order. */
export function shuffledTransactions(sent: SentTransactions, random: Random): SentTransactions {
  let at = 0;
  const all = sent.senders.map((sender, i) => {
    const end = at + sent.sizes[i]!;
    const raw = sent.raw.subarray(at, end);
    at = end;
    return { sender, raw };
  });
  const order = random.shuffled(all);
  return {
    header: sent.header,
    raw: new Uint8Array(Buffer.concat(order.map(({ raw }) => raw))),
    sizes: Uint32Array.from(order, ({ raw }) => raw.length),
    senders: order.map(({ sender }) => sender),
  };
}
