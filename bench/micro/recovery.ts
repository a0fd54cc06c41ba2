/** Public keys of signatures: the native addon, and our WebAssembly in batches and alone, in turns on the same signatures. */
import { randomBytes } from "node:crypto";
import type { Secp256k1Backend, SignedDigest } from "../../src/base/crypto/secp256k1-backend.ts";
import { loadNativeBackend } from "../../src/base/crypto/secp256k1-native.ts";
import { loadWasmBackend } from "../../src/base/crypto/secp256k1-wasm.ts";
import { bigintToFixedBytes, concatBytes } from "../../src/base/primitives/bytes.ts";
import { printTable, writeResult } from "../support/report.ts";

const SIGNATURES = 2048;
const BATCHES = [1, 4, 16, 64];
const TURNS = 5;

export async function run(): Promise<void> {
  const wasm = loadWasmBackend();
  const native = loadNativeBackend();
  const signed = Array.from({ length: SIGNATURES }, (): SignedDigest => {
    const digest = Uint8Array.from(randomBytes(32));
    const { r, s, yParity } = (native ?? wasm).sign(digest, Uint8Array.from(randomBytes(32)));
    const signature = concatBytes(bigintToFixedBytes(r, 32), bigintToFixedBytes(s, 32));
    return { digest, signature, yParity };
  });
  const rows = [native, wasm].flatMap((backend) =>
    backend ? BATCHES.map((batch) => ({ backend, batch, best: Number.POSITIVE_INFINITY })) : [],
  );
  for (let turn = 0; turn < TURNS; turn++) {
    for (const row of rows) row.best = Math.min(row.best, microseconds(row.backend, signed, row.batch));
  }
  const result = rows.map(({ backend, batch, best }) => ({
    backend: backend.name,
    batch,
    "CPU us/recovery": Number(best.toFixed(1)),
  }));
  printTable(result);
  writeResult("recovery", result);
}

function microseconds(backend: Secp256k1Backend, signed: readonly SignedDigest[], batch: number): number {
  const start = process.cpuUsage();
  for (let at = 0; at < signed.length; at += batch) backend.recover(signed.slice(at, at + batch));
  const { user, system } = process.cpuUsage(start);
  return (user + system) / signed.length;
}
