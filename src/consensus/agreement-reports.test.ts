import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeLog } from "../../test/support/node-log.ts";
import type { Address } from "../base/primitives/address.ts";
import { createMetrics } from "../base/telemetry/metrics.ts";
import { NO_AGREEMENT, RULES_ADDRESS } from "../chain/agreement/agreement.ts";
import { AgreementReports } from "./agreement-reports.ts";

const SIGNERS = ["0x01", "0x02", "0x03"].map((digits) => `0x${digits.slice(2).padStart(40, "0")}` as Address);

const vote = (signer: number, name: string, value: bigint) => ({ signer: SIGNERS[signer]!, block: 1, name, value });

test("AgreementReports warns once where votes about a rule differ, and again where their values change", () => {
  let votes = [vote(0, "osakaTime", 100n), vote(1, "osakaTime", 100n), vote(0, "gasLimit", 1n)];
  let commit: (event: never) => void = () => {};
  const log = new NodeLog();
  const warnings: unknown[] = [];
  const logger = { ...log.logger, warn: (_message: string, data: unknown) => void warnings.push(data) };
  const reports = new AgreementReports({
    chain: {
      config: {},
      head: () => ({ block: { header: { number: 1 } } }),
      subscribe: (listener: typeof commit) => {
        commit = listener;
        return () => {};
      },
    } as never,
    voting: { agreementAt: () => ({ ...NO_AGREEMENT, votes }), snapshotAt: () => ({ signers: [] }) } as never,
    metrics: createMetrics(),
    log: logger,
  });
  const decided = () => commit({ changes: { accounts: [{ address: RULES_ADDRESS }] } } as never);
  reports.report();
  assert.deepEqual(warnings, []);

  votes = [...votes, vote(2, "osakaTime", 101n)];
  decided();
  decided();
  assert.deepEqual(warnings, [{ name: "osakaTime", values: [100n, 101n] }]);
  votes = [vote(0, "osakaTime", 100n), vote(1, "osakaTime", 102n)];
  decided();
  assert.deepEqual(warnings.slice(1), [{ name: "osakaTime", values: [100n, 102n] }]);
  votes = [];
  decided();
  votes = [vote(0, "osakaTime", 100n), vote(1, "osakaTime", 102n)];
  decided();
  assert.equal(warnings.length, 3);
});
