import { NodeError } from "../../base/errors.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { Pool } from "../../base/threads/pool.ts";
import type { AuthorityRecoveryThreadHandlers } from "../../base/types/transaction/recover-authorities.thread.ts";
import { noteAuthorities } from "../../base/types/transaction/sender.ts";
import type { SetCodeTransaction } from "../../base/types/transaction/transaction.ts";
import type { AuthorityRecovery } from "../../consensus/mempool/submission.ts";

/** Too many set code transactions wait for the recovery of their signers. */
class AuthorityQueueFullError extends NodeError {
  readonly code = "POOL_AUTHORITY_QUEUE_FULL";
  constructor() {
    super("too many set code transactions are being verified, try again later");
  }
}

/** Each has up to 128 KiB and takes up to 60 ms of a thread, so the last one waits about two seconds. */
export const AUTHORITY_QUEUE_MAX = 32;
/** A thread of lower priority gets little CPU while others work; beyond this time it hangs. */
const RECOVERY_MS_MAX = 60_000;

/** Recovers signers of authorizations in another thread. */
export class AuthorityRecoveryThread implements AuthorityRecovery {
  readonly #thread: Pool<AuthorityRecoveryThreadHandlers>;

  constructor(waitingMax: number, { log, timers }: { readonly log: Logger; readonly timers: Timers }) {
    this.#thread = new Pool<AuthorityRecoveryThreadHandlers>(
      {
        entry: "base/types/transaction/recover-authorities.thread",
        count: 1,
        waitingMax,
        heapMegabytesMax: 64,
        onLost: (error) => log.error("thread that recovers authorities ended", { error }),
      },
      timers,
    );
  }

  /** Transactions whose signers are being recovered, or that wait for it. */
  get waiting(): number {
    return this.#thread.busy + this.#thread.waiting;
  }

  /** @throws AuthorityQueueFullError, ThreadLostError */
  async recover({ raw, authorizationList }: SetCodeTransaction): Promise<void> {
    if (this.#thread.isFull()) throw new AuthorityQueueFullError();
    const authorities = await this.#thread.call("recoverAuthorities", raw, { timeoutMs: RECOVERY_MS_MAX });
    noteAuthorities(authorizationList, authorities);
  }

  close(): void {
    void this.#thread.close();
  }
}
