import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { setCodeTransaction, testAccount } from "../../../test/support/consensus/mempool/pool-fixture.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { recoverAuthority } from "../../base/types/transaction/sender.ts";
import { AuthorityRecoveryThread } from "./authority-recovery.ts";

test("AuthorityRecoveryThread tells the signers of authorizations, and bounds what waits", async (t) => {
  const thread = new AuthorityRecoveryThread(1, { log: STRICT_LOGGER, timers: fatalTimers });
  t.after(() => thread.close());
  const signed = setCodeTransaction({ authorizations: 8 });
  const highS = { ...signed.authorizationList[1]!, s: 2n ** 256n - 1n };
  const tx = { ...signed, authorizationList: signed.authorizationList.with(1, highS) };
  const recovered = [thread.recover(signed), thread.recover(signed)];
  assert.equal(thread.waiting, 2);
  await assert.rejects(thread.recover(signed), { code: "POOL_AUTHORITY_QUEUE_FULL" });
  await Promise.all(recovered);
  assert.equal(thread.waiting, 0);
  assert.deepEqual(
    signed.authorizationList.map(recoverAuthority),
    Array.from({ length: 8 }, (_, i) => testAccount(100 + i)),
  );
  assert.equal(recoverAuthority(tx.authorizationList[1]!), undefined);
});
