import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { Socket } from "node:net";
import { test } from "node:test";
import { overHttp } from "../../support/clients.ts";
import { startEvmintd } from "../../support/evmintd.ts";
import { makeHome, transfer } from "../../support/made-chain.ts";
import { PATIENT_TIMERS } from "../../support/patient.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/until.ts";

/** Fewer where the system lets a process open fewer files. */
const SOCKETS = Math.min(5_000, openFilesMax() - 500);
/** Of the node; `ws` and node:net take some 7 KB, the rest is what a socket of ours holds. */
const BYTES_MAX = 40_000;

const UPGRADE =
  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

test(`${SOCKETS} idle WebSockets cost the node little, and hold up neither calls nor its end`, async (t) => {
  const home = makeHome();
  const flags = ["--consensus.block-time", "instant", "--metrics.enable", "true", "--metrics.address", "127.0.0.1:0"];
  const { child, output, exited, url } = await startEvmintd(home, flags, [PATIENT_TIMERS]);
  const metricsUrl = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(output.stdout)![0];
  const memory = async () => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(/evmint_resident_memory_bytes (\d+)/.exec(text)![1]);
  };
  const before = await memory();
  const sockets = [];
  for (let i = 0; i < SOCKETS / 100; i++) {
    const opened = await Promise.all(Array.from({ length: 100 }, () => openRaw(url)));
    for (const { socket } of opened) socket.write(UPGRADE);
    await Promise.all(opened.map(({ until }) => until("\r\n\r\n")));
    // As clients do: on a slow machine they are asked whether they are there before all are.
    for (const { socket } of opened) socket.on("data", (text) => answerFrames(socket, `${text}`));
    sockets.push(...opened);
  }
  const each = ((await memory()) - before) / SOCKETS;
  t.diagnostic(`${(each / 1000).toFixed(1)} KB of the node's memory a WebSocket`);
  assert.ok(each < BYTES_MAX, `${each} bytes a socket`);

  const { result: hash } = await overHttp(url, "eth_sendRawTransaction", [transfer(0n)]);
  const receipt = async () => (await overHttp(url, "eth_getTransactionReceipt", [hash])).result;
  await until(async () => (await receipt()) !== null, "the receipt");

  child.kill("SIGTERM");
  assert.equal(await exited, 0, output.stderr);
  const [first] = sockets;
  assert.ok((await first!.closed).includes("\u0003\u00e9"), "closed with 1001");
  rmSync(home, { recursive: true, force: true });
});

/** A ping is answered with a pong, a close frame with one. */
function answerFrames(socket: Socket, text: string): void {
  if (text.includes("\u0088")) socket.end(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]));
  else if (text.includes("\u0089")) socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
}

function openFilesMax(): number {
  const report = process.report?.getReport() as
    | { readonly userLimits?: { readonly open_files?: { readonly hard: number | "unlimited" } } }
    | undefined;
  const hard = report?.userLimits?.open_files?.hard ?? 1024;
  return hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}
