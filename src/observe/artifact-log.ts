import type { Chain } from "../chain/chain.ts";
import { callTreeLines, type TracedFrame } from "../dev/artifacts/call-tree.ts";
import { type Contract, type Contracts, lineOf } from "../dev/artifacts/contracts.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { type Hex, hexToBytes } from "../primitives/hex.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import { textString } from "../tracing/json-writer.ts";

/** A transaction that takes longer to trace has no tree. */
const TIMEOUT_MS = 2_000;

/** Where frames reverted, in order: the program counters that ran before, and whose code it was. */
const REVERT_TRACER = `{
  frames: [{ pcs: [] }], reverts: [],
  step(log) {
    const depth = log.getDepth() - 1;
    const { to, initCode, pcs } = this.frames[depth];
    pcs.push(log.getPC());
    if (pcs.length > 64) pcs.shift();
    const opcode = log.op.toNumber();
    if (opcode === 0xfd || opcode === 0xfe) this.reverts.push({ depth, to, initCode, pcs: pcs.slice() });
  },
  fault() {},
  enter(call) {
    const isCreation = call.getType().startsWith("CREATE");
    this.frames.push({
      pcs: [],
      ...(isCreation ? { initCode: toHex(call.getInput()) } : { to: toHex(call.getTo()) }),
    });
  },
  exit() { this.frames.pop() },
  result(ctx) {
    const top = ctx.type === "CREATE" ? { initCode: toHex(ctx.input) } : { to: toHex(ctx.to) };
    return this.reverts.map((each) => each.depth > 0 ? each : { ...each, ...top });
  },
}`;

type Revert = {
  readonly depth: number;
  /** Address of the code; undefined where the frame ran `initCode`. */
  readonly to?: Address;
  readonly initCode?: Hex;
  readonly pcs: readonly number[];
};

/** What transactions did, by the names of a project's artifacts. */
export type ArtifactLog = {
  /** Calls, events and results as a tree, and where in the sources the transaction reverted. Executes it again. */
  linesOf(hash: Hash, block: { readonly number: number; readonly isFailed: boolean }): Promise<readonly string[]>;
};

export function createArtifactLog(
  contracts: Contracts,
  {
    chain,
    tracing,
  }: {
    readonly chain: Pick<Chain, "stateAt">;
    readonly tracing: Pick<ExecutionPort, "traceTransaction">;
  },
): ArtifactLog {
  const byCodeHash = new Map<Hash, Contract | undefined>();

  function contractAt(address: Address, number: number): Contract | undefined {
    const state = chain.stateAt(number);
    const codeHash = state.account(address)?.codeHash;
    if (codeHash === undefined) return undefined;
    if (!byCodeHash.has(codeHash)) {
      byCodeHash.set(codeHash, contracts.withRuntime(state.code(codeHash)));
    }
    return byCodeHash.get(codeHash);
  }

  async function trace<T>(hash: Hash, tracer: string, tracerConfig = {}): Promise<T> {
    const request = { tracer, tracerConfig, timeoutMs: TIMEOUT_MS };
    return JSON.parse(textString(await tracing.traceTransaction({ hash, request }))) as T;
  }

  /** `src/Token.sol:52` */
  async function revertLine(hash: Hash, number: number): Promise<string | undefined> {
    const reverts = await trace<readonly Revert[]>(hash, REVERT_TRACER);
    // The last revert is that of the outermost frame; those right before it, each one frame deeper, are what it passes on.
    let origin = reverts.length - 1;
    while (origin > 0 && reverts[origin - 1]!.depth === reverts[origin]!.depth + 1) origin--;
    const revert = reverts[origin];
    if (revert === undefined) return undefined;
    const { to, initCode, pcs } = revert;
    const code = to ? contractAt(to, number)?.runtime : contracts.withCreation(hexToBytes(initCode ?? "0x"))?.creation;
    return code?.sourceMap && lineOf(pcs, code.bytes, code.sourceMap);
  }

  return {
    async linesOf(hash, { number, isFailed }) {
      const top = await trace<TracedFrame>(hash, "callTracer", { withLog: true });
      const modules = { contracts, contractAt: (address: Address) => contractAt(address, number) };
      const lines = callTreeLines(top, modules);
      const line = isFailed ? await revertLine(hash, number) : undefined;
      return line === undefined ? lines : [...lines, `reverted at ${line}`];
    },
  };
}
