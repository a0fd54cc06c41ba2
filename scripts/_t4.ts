import { PROGRAMS } from "../bench/evm/programs.ts";
import { createEvm } from "../src/evm/engine.ts";
import { createMemoryState } from "../src/state/memory-state.ts";
import { createWorldState } from "../src/state/world-state.ts";

const CALLER = `0x${"aa".repeat(20)}` as any,
  CONTRACT = `0x${"cc".repeat(20)}` as any;
const block: any = {
  hardfork: "prague",
  chainId: 1n,
  number: 1,
  timestamp: 1,
  coinbase: `0x${"00".repeat(20)}`,
  gasLimit: 30_000_000n,
  difficulty: 0n,
  prevRandao: `0x${"00".repeat(32)}`,
  baseFeePerGas: 7n,
  blobBaseFee: 1n,
  blockHash: () => undefined,
};
const evm = createEvm();
const p = PROGRAMS.find((p) => p.name.includes(process.argv[2]!))!;
let best = 1e9;
for (let i = 0; i < Number(process.argv[3] ?? 30); i++) {
  const state = createWorldState(createMemoryState());
  state.setAccount(CALLER, {
    nonce: 1n,
    balance: 10n ** 18n,
    codeHash: state.putCode(new Uint8Array(0)),
  });
  state.setAccount(CONTRACT, { nonce: 1n, balance: 0n, codeHash: state.putCode(p.code) });
  const c = process.cpuUsage();
  const t = performance.now();
  const r = evm.execute(
    {
      to: CONTRACT,
      caller: CALLER,
      origin: CALLER,
      value: 0n,
      data: p.data,
      gas: 1000000000n,
      gasPrice: 7n,
      blobVersionedHashes: [],
      warmAddresses: [],
      warmSlots: [],
    },
    block,
    state,
  );
  best = Math.min(best, performance.now() - t);
  if (r.outcome !== "success") throw new Error(JSON.stringify(r.halt));
}
console.log(p.name, best.toFixed(2));
