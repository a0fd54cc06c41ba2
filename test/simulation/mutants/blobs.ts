import { hasBlobs, type Mutant } from "./mutant.ts";

/** Faults in the handling of blob transactions: proofs that are verified beside the main thread, and separate gas. */
export const BLOB_MUTANTS: readonly Mutant[] = [
  {
    name: "peer-proofs-on-the-main-thread",
    why: "Proofs of peers are verified by the thread that makes blocks: six blobs hold up votes and answers for more than half a second, and cost the peer nothing.",
    patches: [
      {
        file: "src/node/roles/chain/pool-role.ts",
        from: `import { openQuarantine,`,
        to: `import { VerifiedBlobs } from "../../../base/crypto/kzg/verified-blobs.ts";\nimport { openQuarantine,`,
      },
      {
        file: "src/node/roles/chain/pool-role.ts",
        from: `    this.fromPeers = new PeerSubmissions({\n      pool,\n      blobs,`,
        to: `    const verified = new VerifiedBlobs();\n    this.fromPeers = new PeerSubmissions({\n      pool,\n      blobs: { verifyForPeer: async (sidecar) => verified.faultOf(sidecar) },`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: (plan) => hasBlobs(plan) && plan.nodes.length > 1,
    seedsMax: 20,
    checks: ["stall"],
  },
  {
    name: "peer-proofs-not-verified",
    why: "What a peer sends counts as verified: anybody puts transactions into blocks whose blobs nobody can prove.",
    patches: [
      {
        file: "src/consensus/mempool/peer-submissions.ts",
        from: `      const fault = await blobs.verifyForPeer(submission.sidecar!);`,
        to: `      const fault = blobs ? undefined : "proof";`,
      },
    ],
    plan: { engine: "cometbft" },
    suits: (plan) => hasBlobs(plan) && plan.nodes.length > 1,
    seedsMax: 20,
    checks: ["validity"],
  },
  {
    name: "commitment-known-is-verified",
    why: "A commitment that was verified once counts as verified, whatever proofs come with it the next time.",
    patches: [
      {
        file: "src/base/crypto/kzg/verified-blobs.ts",
        from: `      else if (digest !== digestOf(sidecar, i)) return KZG_FAULT_TEXTS.proof;`,
        to: ``,
      },
    ],
    plan: {},
    suits: hasBlobs,
    seedsMax: 20,
    checks: ["answers", "validity"],
  },
  {
    name: "blob-gas-without-limit",
    why: "A block takes as many blobs as there are: nodes of other makes reject it, and store more than they have room for.",
    patches: [
      {
        file: "src/evm/execution/block-context.ts",
        from: `  if (pool.blobGas < blobGas) {`,
        to: `  if (pool.blobGas < blobGas && pool.gas < gas) {`,
      },
    ],
    plan: {},
    suits: (plan) => hasBlobs(plan) && plan.blockTimeMs >= 2_000,
    seedsMax: 40,
    checks: ["model", "own fault", "liveness"],
  },
  {
    name: "blobs-cost-nothing",
    why: "The fee for blobs is asked for and not taken.",
    patches: [
      {
        file: "src/evm/execution/transaction/apply-message.ts",
        from: `account.balance - gasLimit * gasPrice - blobGas * block.blobBaseFee;`,
        to: `account.balance - gasLimit * gasPrice;`,
      },
    ],
    plan: {},
    suits: hasBlobs,
    seedsMax: 20,
    checks: ["answers"],
  },
];
