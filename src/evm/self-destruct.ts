import { traceSelfDestruct } from "./hooks/trace-frames.ts";
import { flag, frame, record, request } from "./memory/layout.ts";
import type { Session } from "./session.ts";

/**
 * SELFDESTRUCT of the running account in favour of `request.target` (Yellow Paper 9.4, A_s). From Cancun the account goes
 * only when this transaction created it; the balance moves always (EIP-6780).
 */
export function selfDestruct(session: Session): void {
  const { memory, journal, rules } = session;
  const account = memory.get32(frame.account);
  const target = memory.get32(request.target);
  if (session.tracer) traceSelfDestruct(session, target);
  const isDeleted = !rules.eip6780 || (memory.get32(account + record.flags) & flag.created) !== 0;

  memory.copyWord(request.value, account + record.value);
  journal.subBalance(account, request.value);
  journal.addBalance(target, request.value);
  if (!isDeleted) return;
  // What it gave to itself is lost.
  if (target === account) journal.subBalance(account, request.value);
  journal.mark(account, flag.selfDestructed);
}
