import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { until } from "../../../test/support/until.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { CompilerBusyError, CompilerError } from "../../rpc/transport/errors.ts";
import { SERVER_LIMITS } from "../../rpc/transport/limits.ts";
import { COMPILER_LIMITS, compiledText } from "./compiler-limits.ts";
import { createSolidityCompiler, type SolidityCompiler } from "./solidity-compiler.ts";

const skip = hasSolc() ? false : "left out: solc is not installed";

function hasSolc(): boolean {
  try {
    return createRequire(import.meta.url).resolve("solc") !== "";
  } catch {
    return false;
  }
}

const OUTPUTS = { "*": { "*": ["evm.bytecode.object"] } };

function inputOf(content: string, settings = {}): object {
  const sources = { "a.sol": { content } };
  return { language: "Solidity", sources, settings: { outputSelection: OUTPUTS, ...settings } };
}

const EMPTY = inputOf("contract Empty {}");

/** 1 KB of source with 4^18 fields: each structure has four of the one before. */
function manyFields(): object {
  const structs = Array.from({ length: 18 }, (_, i) => {
    const type = i === 0 ? "uint" : `S${i - 1}`;
    return `struct S${i} { ${type} a; ${type} b; ${type} c; ${type} d; }`;
  });
  const contract = "contract C { S17 s; function f() public view returns (S17 memory) { return s; } }";
  return inputOf([...structs, contract].join("\n"), { viaIR: true, optimizer: { enabled: true } });
}

/** However busy the machine is, no deadline ends a source. */
const PATIENT: Timers = { ...fatalTimers, after: (ms, ...others) => fatalTimers.after(100 * ms, ...others) };

function compiler(t: { after(close: () => void): void }): SolidityCompiler {
  const opened = createSolidityCompiler(true, PATIENT, SERVER_LIMITS.compileTimeoutMs);
  t.after(() => opened.close());
  return opened;
}

/** Processes of the compiler that this process has started. */
function processes(): readonly number[] {
  const lines = execFileSync("ps", ["-e", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return fields
    .filter(([, ppid, ...args]) => Number(ppid) === process.pid && args.join(" ").includes("compile-solidity.process"))
    .map(([pid]) => Number(pid));
}

/** A process that was killed is there until the system has taken note. */
function allEnded(): Promise<unknown> {
  return until(() => processes().length === 0, "the end of the compiler's processes");
}

const isLinux = process.platform === "linux" || "only Linux tells the largest memory of another process";

test("createSolidityCompiler ends a source that needs too much memory, below the limit, and compiles the next", {
  skip: skip || (isLinux === true ? false : isLinux),
}, async (t) => {
  const solidity = compiler(t);
  let peak = 0;
  let turns = 0;
  let pid: number | undefined;
  const look = fatalTimers.every(20, "peak", () => {
    turns++;
    if (pid === undefined) [pid] = processes();
    else peak = Math.max(peak, peakOf(pid));
  });
  t.after(() => look.cancel());
  await assert.rejects(solidity.compile(manyFields()), (error: Error) => {
    assert(error instanceof CompilerError);
    assert.match(error.message, new RegExp(`${COMPILER_LIMITS.memoryMegabytesMax} MB`));
    return true;
  });
  assert(turns > 0, "this thread had turns meanwhile");
  assert(peak > 100 * 2 ** 20, `the process was seen: ${peak}`);
  assert(peak <= COMPILER_LIMITS.memoryMegabytesMax * 2 ** 20, `${peak} bytes at most`);
  const { contracts } = await solidity.compile(EMPTY);
  assert.deepEqual(Object.keys(contracts?.["a.sol"] ?? {}), ["Empty"]);
  await allEnded();
});

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

test("createSolidityCompiler starts a process with the first source alone, and close ends it", { skip }, async (t) => {
  await allEnded();
  const solidity = compiler(t);
  assert.deepEqual(processes(), []);
  const compiling = solidity.compile(EMPTY);
  const failed = assert.rejects(compiling, CompilerError);
  // The source takes its turn in this one.
  await Promise.resolve();
  assert.equal(processes().length, 1);
  solidity.close();
  await failed;
  await assert.rejects(solidity.compile(EMPTY), CompilerError);
  assert.equal(await solidity.compilerVersion(), undefined);
});

test("createSolidityCompiler answers a source of errors with the compiler's words, and one more than may wait as busy", {
  skip,
}, async (t) => {
  const solidity = compiler(t);
  const first = assert.rejects(solidity.compile(inputOf("contract {")), { code: "RPC_COMPILER" });
  const { waitingMax } = COMPILER_LIMITS;
  const waiting = Array.from({ length: waitingMax }, () => assert.rejects(solidity.compile(EMPTY), CompilerError));
  await assert.rejects(solidity.compile(EMPTY), CompilerBusyError);
  await first;
  solidity.close();
  await Promise.all(waiting);
});

test("compiledText is contracts alone, and refuses errors, clipped, and more than the limit", () => {
  const warning = { severity: "warning", formattedMessage: "w" };
  assert.deepEqual(JSON.parse(compiledText(JSON.stringify({ sources: {}, errors: [warning] }))), { contracts: {} });
  const errors = [{ severity: "error", formattedMessage: "e".repeat(COMPILER_LIMITS.errorCharsMax + 1) }];
  assert.throws(
    () => compiledText(JSON.stringify({ errors })),
    (error: Error) => error instanceof CompilerError && error.message.length === COMPILER_LIMITS.errorCharsMax,
  );
  const contracts = { file: { C: "00".repeat(COMPILER_LIMITS.outputBytesMax / 2) } };
  assert.throws(() => compiledText(JSON.stringify({ contracts })), CompilerError);
});
