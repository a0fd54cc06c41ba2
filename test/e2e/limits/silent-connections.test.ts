/** RPC processes close connections that fall silent, as `connection-ends.test.ts` has it for listeners of one process. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeCertificate, NO_OPENSSL } from "../../support/certificates.ts";
import {
  BEFORE_TLS,
  clientHello,
  closes,
  opened,
  SHORT_LIMITS,
  STAGES,
  type Stage,
} from "../../support/rpc/silent-connections.ts";
import { startTestNode } from "../../support/test-node.ts";
import { HANG_MS } from "../../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-silent-"));
after(() => rmSync(folder, { recursive: true }));

for (const isTls of [false, true]) {
  test(`RPC processes close connections that fall silent ${isTls ? "with" : "without"} TLS`, {
    skip: isTls && NO_OPENSSL,
    timeout: HANG_MS,
    concurrency: true,
  }, async (t) => {
    const { cert, key } = isTls ? makeCertificate(folder, "node") : {};
    const node = await startTestNode({
      dev: true,
      settings: { "json-rpc.processes": "2", ...(cert && key && { "tls.cert": cert, "tls.key": key }) },
      limits: { server: SHORT_LIMITS },
    });
    const hello = await clientHello();
    const stages = Object.entries(STAGES).map(([name, stage]) => ({ name, isSecure: isTls, stage }));
    const beforeTls = Object.entries(isTls ? BEFORE_TLS : {}).map(([name, begin]) => {
      const stage: Stage = (socket) => begin(socket, hello);
      return { name, isSecure: false, stage };
    });
    const ends: Promise<void>[] = [];
    for (const [kind, url] of [
      ["http", node.url],
      ["ws", node.wsUrl],
    ] as const) {
      assert.notEqual(url, "");
      for (const { name, isSecure, stage } of [...beforeTls, ...stages]) {
        ends.push(
          t.test(`${kind}: ${name}`, async () => {
            const socket = await opened(url, isSecure);
            const closed = closes(socket);
            await stage(socket);
            await closed;
          }),
        );
      }
    }
    await Promise.all(ends);
    await node.stop();
  });
}
