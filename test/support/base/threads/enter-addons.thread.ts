import { setImmediate } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { signatureBytes } from "../../../../src/base/crypto/secp256k1.ts";
import { loadNativeBackend } from "../../../../src/base/crypto/secp256k1-native.ts";
import { nativeCall, threadData } from "../../../../src/base/threads/native-calls.ts";
import { openLmdbFollower } from "../../../../src/store/storage/lmdb/lmdb-kv.ts";
import { type AddonThreadData, SHARED } from "./addon-thread-data.ts";

const { directory, shared, calls } = threadData<AddonThreadData>();
const secp256k1 = loadNativeBackend();
/** No point has this r, so that the addon throws: most of what can go wrong in a thread that ends. */
const SIGNED = { digest: new Uint8Array(32).fill(3), signature: signatureBytes(5n, 1n), yParity: 0 } as const;

function slow(): void {
  nativeCall(() => {
    Atomics.add(shared, SHARED.entered, 1);
    parentPort?.postMessage("inside");
    while (Atomics.load(shared, SHARED.go) === 0);
    Atomics.add(shared, SHARED.left, 1);
  });
}

function addons(): void {
  openLmdbFollower(directory).close();
  secp256k1?.recover([SIGNED]);
}

if (calls === "addons") {
  parentPort?.postMessage("inside");
  for (;;) {
    addons();
    // LMDB's timers have their turn, which hold what was opened.
    await setImmediate();
  }
}
for (;;) slow();
