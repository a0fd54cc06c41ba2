import assert from "node:assert/strict";
import { test } from "node:test";
import { createEthereumjsEvm } from "../../../test/oracle/ethereumjs/evm.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import { HARDFORKS, type Hardfork } from "../../base/params/hardforks.ts";
import { type Address, ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";
import type { BlockContext, Evm, ExecuteOptions } from "./evm.ts";
import { ACCESS_OPCODES, type Opcode, opcodesOf } from "./opcodes.ts";
import type { AccessStep, FrameEnd, Step } from "./tracer.ts";

/** Random programs on our engine and on @ethereumjs/evm: outcome, gas, output, logs and state must be the same. */

const ours = createEvm();
const library = createEthereumjsEvm();

const CALLER = `0x${"aa".repeat(20)}` as Address;
const CONTRACT = `0x${"cc".repeat(20)}` as Address;
const OTHER = `0x${"dd".repeat(20)}` as Address;
const EOA = `0x${"ee".repeat(20)}` as Address;
/** CREATE address of the caller at nonce 0, the nonce before the transaction raised it */
const CREATED = "0x3c952d36207c0d52743a646e7ac2649009bd358e" as Address;
const GAS = 200_000n;

/** Less and more than the slice of gas that a frame of a call with a deadline gets at a time. */
const anyGas = fc.bigInt(100_000n, 700_000n);

/** Forks whose rules differ in some opcode or gas cost. */
const OWN_FORKS = HARDFORKS.filter((fork) => fork !== "paris");
/** Amsterdam's gas of two dimensions is compared with go-ethereum's `t8n`. */
const FORKS = OWN_FORKS.filter((fork) => fork !== "amsterdam");

/** Numbers that sit on the edges of limbs, sizes and signs. */
const interestingWord = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(0n, 70n) },
  fc.bigInt(0n, 0x2000n),
  fc.bigInt(0n, (1n << 256n) - 1n),
  fc.constantFrom(
    (1n << 255n) - 1n,
    1n << 255n,
    (1n << 256n) - 1n,
    (1n << 64n) - 1n,
    1n << 64n,
    1n << 128n,
    BigInt(CONTRACT),
    BigInt(OTHER),
    BigInt(EOA),
    2n,
    4n,
  ),
);

type Piece = { readonly opcode: number; readonly operands: readonly bigint[] };

/** An opcode with operands pushed before it, so that most programs get far. */
const piece: fc.Arbitrary<Piece> = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...interestingOpcodes()) }, fc.integer({ min: 0, max: 255 })),
    fc.array(interestingWord, { minLength: 7, maxLength: 7 }),
    fc.integer({ min: -1, max: 7 }),
  )
  .map(([opcode, words, count]) => {
    const pops = opcodesOf("osaka")[opcode]?.pops ?? 0;
    const wanted = count < 0 ? Math.max(0, pops - 1) : pops;
    return { opcode, operands: words.slice(0, Math.min(wanted, 7)) };
  });

/** Ends a creation with code of up to 400 bytes. */
const returnPiece: fc.Arbitrary<Piece> = fc.bigInt(0n, 400n).map((size) => ({ opcode: 0xf3, operands: [size, 0n] }));

const program = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 40 }), fc.option(returnPiece))
  .map(([pieces, end]) => Uint8Array.from([...pieces, ...(end === null ? [] : [end])].flatMap(bytesOf)));

function bytesOf({ opcode, operands }: Piece): number[] {
  const pushes = operands.flatMap((operand) => {
    const digits = operand.toString(16).padStart(2, "0");
    const even = digits.length % 2 === 0 ? digits : `0${digits}`;
    return [0x5f + even.length / 2, ...Buffer.from(even, "hex")];
  });
  return [...pushes, opcode];
}

function interestingOpcodes(): number[] {
  // What depends on gas left would differ after any other difference; it stays in, because none is expected.
  return opcodesOf("osaka").flatMap((opcode: Opcode | undefined) => (opcode ? [opcode.code] : []));
}

function block(hardfork: Hardfork): BlockContext {
  return {
    hardfork,
    chainId: 1n,
    number: 1000,
    timestamp: 1_700_000_000,
    coinbase: `0x${"c0".repeat(20)}` as Address,
    gasLimit: 30_000_000n,
    difficulty: 0x20000n,
    prevRandao: hashFromBigint(0x1234n << 200n),
    baseFeePerGas: 7n,
    blobBaseFee: 3n,
    blockHash: (number) => hashFromBigint(BigInt(number) << 100n),
  };
}

function run(
  evm: Evm,
  fork: Hardfork,
  [code, other]: readonly [Uint8Array, Uint8Array],
  isCreation: boolean,
  { gas = GAS, ...options }: ExecuteOptions & { readonly gas?: bigint } = {},
) {
  const state = createWorldState(createMemoryState());
  const noCode = state.putCode(new Uint8Array());
  state.setAccount(CALLER, { nonce: 1n, balance: 10n ** 18n, codeHash: noCode });
  state.setAccount(EOA, { nonce: 0n, balance: 5n, codeHash: noCode });
  state.setAccount(CONTRACT, { nonce: 1n, balance: 1000n, codeHash: state.putCode(code) });
  state.setAccount(OTHER, { nonce: 1n, balance: 9n, codeHash: state.putCode(other) });
  state.setStorage(CONTRACT, hashFromBigint(1n), 7n);
  state.setStorage(CONTRACT, hashFromBigint(2n), 1n << 255n);
  state.setStorage(OTHER, hashFromBigint(1n), 3n);
  const result = evm.execute(
    {
      to: isCreation ? null : CONTRACT,
      createAddress: CREATED,
      caller: CALLER,
      origin: CALLER,
      value: 3n,
      data: isCreation ? code : Uint8Array.from({ length: 70 }, (_, i) => i * 3),
      gas,
      gasPrice: 9n,
      blobVersionedHashes: [hashFromBigint(1n << 248n)],
      warmAddresses: [ZERO_ADDRESS, CONTRACT],
      warmSlots: [[CONTRACT, hashFromBigint(2n)]],
    },
    block(fork),
    state,
    options,
  );
  const { halt, returnData, ...rest } = result;
  state.finalizeTransaction({ selfDestructs: result.selfDestructs, deleteEmptyTouched: true });
  return {
    ...rest,
    selfDestructs: [...rest.selfDestructs].sort(),
    halt,
    returnData: bytesToHex(returnData),
    logs: rest.logs.map((log) => ({ ...log, data: bytesToHex(log.data) })),
    changes: [...state.changes().accounts]
      .map((change) => ({ ...change, storage: [...change.storage].sort() }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

function text(value: object): string {
  return JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `${item}n` : item), 1);
}

const runs = Number(process.env["FUZZ_RUNS"] ?? 200);

const codesOfCase = [fc.tuple(program, program), fc.boolean()] as const;
const cases = [fc.constantFrom(...FORKS), ...codesOfCase] as const;

test("a random program ends the same as in @ethereumjs/evm, in every fork", () => {
  fc.assert(
    fc.property(...cases, (fork, codes, isCreation) => {
      // The library names fewer reasons of a halt.
      const { halt: _, ...mine } = run(ours, fork, codes, isCreation);
      const { halt: __, ...theirs } = run(library, fork, codes, isCreation);
      assert.equal(text(mine), text(theirs));
    }),
    { numRuns: runs },
  );
});

test("a random program ends the same, with the same halt, when gas is charged per opcode or in slices", () => {
  // Half of them on Amsterdam, where a creation pays for its code while its frame has only a slice of its gas.
  const forks = fc.oneof(fc.constant<Hardfork>("amsterdam"), fc.constantFrom(...OWN_FORKS));
  fc.assert(
    fc.property(forks, ...codesOfCase, anyGas, (fork, codes, isCreation, gas) => {
      const fast = text(run(ours, fork, codes, isCreation, { gas }));
      const traced = run(ours, fork, codes, isCreation, { gas, tracer: { onStep: () => {} } });
      assert.equal(fast, text(traced));
      const sliced = run(ours, fork, codes, isCreation, { gas, deadlineMs: Number.MAX_VALUE });
      assert.equal(fast, text(sliced));
    }),
    { numRuns: runs },
  );
});

/** CALL and its kin; the library's cost leaves out the gas they forward. */
const HANDS_GAS_ON = new Set([0xf1, 0xf2, 0xf4, 0xfa]);

function stepsOf(...args: Parameters<typeof run>) {
  const steps: { readonly step: string; readonly cost: bigint | undefined }[] = [];
  const [evm, fork, codes, isCreation] = args;
  let hasHalted = false;
  const onStep = (step: Step) => {
    const { depth, pc, opcode, gas, gasCost } = step;
    // The library leaves out the STOP after the last byte, which go-ethereum reports.
    if (opcode === 0x00) return;
    const fields = [depth, pc, opcode, gas, step.stack().slice(-4).join(), step.memory().length];
    steps.push({ step: fields.join(" "), cost: HANDS_GAS_ON.has(opcode) ? undefined : gasCost });
  };
  const onExit = ({ halt }: FrameEnd) => {
    hasHalted ||= halt !== undefined;
  };
  run(evm, fork, codes, isCreation, { tracer: { onStep, onExit } });
  return { steps, hasHalted };
}

test("a random program takes the same steps as in @ethereumjs/evm", () => {
  fc.assert(
    fc.property(...cases, (fork, codes, isCreation) => {
      const mine = stepsOf(ours, fork, codes, isCreation);
      // Of steps at which a frame halts the library reports some, with other costs.
      fc.pre(!mine.hasHalted);
      const theirs = stepsOf(library, fork, codes, isCreation);
      assert.equal(mine.steps.map(({ step }) => step).join("\n"), theirs.steps.map(({ step }) => step).join("\n"));
      mine.steps.forEach(({ step, cost }, i) => {
        assert.equal(cost, theirs.steps[i]!.cost, step);
      });
    }),
    { numRuns: runs / 2 },
  );
});

test("the hook before accesses sees each access that the hook before every opcode sees, with the same operands", () => {
  const accessesOf = (name: "onStep" | "onAccessStep", ...args: Parameters<typeof run>) => {
    const seen: string[] = [];
    const [engine, fork, codes, isCreation] = args;
    const add = (step: Step | AccessStep, top: readonly bigint[]) => {
      // Of an opcode that the fork does not have only one of the hooks knows the halt.
      if (opcodesOf(fork)[step.opcode] === undefined) return;
      seen.push([step.opcode, step.address, step.halt?.kind, ...top].join(" "));
    };
    const tracer =
      name === "onStep"
        ? {
            onStep: (step: Step) => {
              if (ACCESS_OPCODES.has(step.opcode)) add(step, step.stack().reverse().slice(0, 2));
            },
          }
        : {
            onAccessStep: (step: AccessStep) => {
              const count = Math.min(step.stackHeight, 2);
              add(
                step,
                Array.from({ length: count }, (_, n) => step.operand(n)),
              );
            },
          };
    const outcome = text(run(engine, fork, codes, isCreation, { tracer }));
    return { seen, outcome };
  };
  fc.assert(
    fc.property(...cases, (fork, codes, isCreation) => {
      assert.deepEqual(
        accessesOf("onAccessStep", ours, fork, codes, isCreation),
        accessesOf("onStep", ours, fork, codes, isCreation),
      );
    }),
    { numRuns: runs },
  );
});
