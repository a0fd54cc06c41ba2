import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { parseAddress } from "../../base/primitives/address.ts";
import { AccountPermissions } from "./account-permissions.ts";

test("AccountPermissions reads its file again once a second of the node's clock is over", () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-permissions-"));
  try {
    const file = join(folder, "accounts.json");
    const account = parseAddress(`0x${"aa".repeat(20)}`);
    writeFileSync(file, JSON.stringify({ send: [account] }));
    const timers = new ManualTimers();
    const permissions = new AccountPermissions(file, { log: STRICT_LOGGER, timers });
    assert.equal(permissions.maySend(account), true);
    writeFileSync(file, JSON.stringify({ send: [] }));
    timers.jump(999);
    assert.equal(permissions.maySend(account), true);
    timers.jump(1);
    assert.equal(permissions.maySend(account), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
