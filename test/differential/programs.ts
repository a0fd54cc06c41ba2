import type { Address } from "../../src/base/primitives/address.ts";
import type { Hex } from "../../src/base/primitives/hex.ts";
import { contract } from "../support/contracts.ts";
import { asm } from "./assemble.ts";

/** A contract whose calls are compared. */
export type Program = {
  readonly name: string;
  readonly address: Address;
  readonly code: Hex;
  readonly storage?: Readonly<Record<string, string>>;
};

const PLAIN = "0x00000000000000000000000000000000000b0b00" as Address;
const ADDRESS_OF = (index: number) => `0x${(0xc0de000 + index).toString(16).padStart(40, "0")}` as Address;

const word = (value: number | bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
const ONE = word(1);

/** `size` bytes of returned data after a call, handed on as a revert when the call failed. */
const BUBBLE =
  "RETURNDATASIZE PUSH0 PUSH0 RETURNDATACOPY @ok JUMPI RETURNDATASIZE PUSH0 REVERT :ok RETURNDATASIZE PUSH0 RETURN";
/** Memory from 0 holds the text of the reason; 100 bytes of revert data. */
const revertWith = (bytes: string): string => {
  const words = bytes.match(/.{1,64}/g)!.map((part) => part.padEnd(64, "0"));
  const stores = words.map((part, i) => `0x${part} ${i * 32} MSTORE`).join(" ");
  return `${stores} ${bytes.length / 2} PUSH0 REVERT`;
};
const abiString = (text: string): string => {
  const data = Buffer.from(text).toString("hex");
  const padded = data.padEnd(Math.ceil(data.length / 64) * 64, "0");
  return `08c379a0${word(32).slice(2)}${word(data.length / 2).slice(2)}${padded}`;
};
const panic = (code: number): string => `4e487b71${word(code).slice(2)}`;

const call = (kind: string, target: string, gas = "GAS", value = "PUSH0"): string => {
  const takesValue = kind === "CALL" || kind === "CALLCODE";
  return `PUSH0 PUSH0 CALLDATASIZE PUSH0 ${takesValue ? value : ""} ${target} ${gas} ${kind}`;
};
/** Creation of `initCode` (at most 32 bytes) that leaves the address on the stack. */
const create = (initCode: string, value = "PUSH0"): string =>
  `0x${initCode.padEnd(64, "0")} PUSH0 MSTORE ${initCode.length / 2} PUSH0 ${value} CREATE`;
const create2 = (initCode: string, salt = "7", value = "PUSH0"): string =>
  `0x${initCode.padEnd(64, "0")} PUSH0 MSTORE ${salt} ${initCode.length / 2} PUSH0 ${value} CREATE2`;
const returnTop = "PUSH0 MSTORE 32 PUSH0 RETURN";

/** Everything a frame can do and every way it can end, one program each. */
const SOURCES: Readonly<
  Record<string, string | { readonly source: string; readonly storage: Readonly<Record<string, string>> }>
> = {
  stop: "STOP",
  empty: "",
  returnWord: `42 ${returnTop}`,
  returnNothing: "PUSH0 PUSH0 RETURN",
  revertBare: "PUSH0 PUSH0 REVERT",
  revertString: revertWith(abiString("not today")),
  revertLong: revertWith(abiString("a reason that needs more than one word of thirty-two bytes")),
  revertNotUtf8: revertWith(`08c379a0${word(32).slice(2)}${word(3).slice(2)}${"fffe41".padEnd(64, "0")}`),
  revertControl: revertWith(abiString('quote " <tag> & \n\u2028 tab\t')),
  revertEmptyString: revertWith(abiString("").padEnd(8 + 128, "0")),
  revertShortString: revertWith(`08c379a0${word(32).slice(2)}${word(200).slice(2)}`),
  revertBadOffset: revertWith(`08c379a0${"ff".repeat(32)}`),
  revertSelectorOnly: revertWith("08c379a0"),
  revertThree: revertWith("08c379"),
  revertPanic01: revertWith(panic(1)),
  revertPanic11: revertWith(panic(0x11)),
  revertPanic12: revertWith(panic(0x12)),
  revertPanicUnknown: revertWith(panic(0x99)),
  revertPanicShort: revertWith("4e487b7100"),
  revertPanicLong: revertWith(`${panic(0x32)}${"00".repeat(32)}`),
  revertCustom: revertWith(`cafebabe${word(7).slice(2)}`),
  invalid: "!fe",
  undefinedOpcode: "!0c",
  undefinedHigh: "!ef",
  stackUnderflow: "ADD",
  stackUnderflowDup: "1 !8f",
  stackOverflow: ":a 1 @a JUMP",
  invalidJump: "5 JUMP",
  jumpIntoPush: "4 JUMP !605b",
  jumpFar: `${`0x${"ff".repeat(32)}`} JUMP`,
  jumpiNotTaken: "PUSH0 999 JUMPI STOP",
  loop: ":a @a JUMP",
  sload: `1 SLOAD 2 SLOAD ADD ${returnTop}`,
  sloadTwice: `1 SLOAD POP 1 SLOAD ${returnTop}`,
  sstoreNew: "7 9 SSTORE",
  sstoreSame: { source: "1 1 SSTORE", storage: { [ONE]: ONE } },
  sstoreClear: { source: "PUSH0 1 SSTORE", storage: { [ONE]: ONE } },
  sstoreBack: { source: "PUSH0 1 SSTORE 1 1 SSTORE", storage: { [ONE]: ONE } },
  sstoreThrice: "1 5 SSTORE 2 5 SSTORE PUSH0 5 SSTORE",
  sstoreThenRevert: "1 5 SSTORE PUSH0 PUSH0 REVERT",
  sstoreSentry: "1 5 SSTORE 2 6 SSTORE",
  tstore: `7 1 TSTORE 1 TLOAD ${returnTop}`,
  log0: "PUSH0 PUSH0 LOG0",
  log4: "1 PUSH0 MSTORE 4 3 2 1 32 PUSH0 LOG4",
  logsThenRevert: "PUSH0 PUSH0 LOG0 1 PUSH0 PUSH0 LOG1 PUSH0 PUSH0 REVERT",
  keccak: `32 PUSH0 KECCAK256 ${returnTop}`,
  keccakBig: `4096 1 KECCAK256 ${returnTop}`,
  exp: `0x0123456789 3 EXP ${returnTop}`,
  mstoreFar: "1 100000 MSTORE MSIZE PUSH0 MSTORE 32 PUSH0 RETURN",
  mstore8: "255 5 MSTORE8 32 PUSH0 RETURN",
  memoryHuge: "1 0xffffffffff MSTORE",
  memoryOverflow: `1 0x${"ff".repeat(32)} MSTORE`,
  memoryUint64: "1 0x1fffffffe0 MSTORE",
  mcopy: "1 PUSH0 MSTORE 32 PUSH0 64 MCOPY 96 PUSH0 RETURN",
  calldataCopy: "CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 RETURN",
  calldataLoadFar: `0x${"ff".repeat(32)} CALLDATALOAD ${returnTop}`,
  codeCopy: "CODESIZE PUSH0 PUSH0 CODECOPY CODESIZE PUSH0 RETURN",
  returnDataOut: "1 PUSH0 PUSH0 RETURNDATACOPY",
  returnDataOverflow: `32 0x${"ff".repeat(32)} PUSH0 RETURNDATACOPY`,
  environment: `GASPRICE BASEFEE BLOBBASEFEE NUMBER TIMESTAMP COINBASE DIFFICULTY GASLIMIT CHAINID SELFBALANCE ORIGIN CALLER CALLVALUE
    ${Array.from({ length: 13 }, (_, i) => `${i * 32} MSTORE`).join(" ")} 416 PUSH0 RETURN`,
  blockHash: `1 NUMBER SUB BLOCKHASH PUSH0 MSTORE NUMBER BLOCKHASH 32 MSTORE 1 BLOCKHASH 64 MSTORE 0xffffffffffffffff BLOCKHASH 96 MSTORE 128 PUSH0 RETURN`,
  blobHash: `PUSH0 BLOBHASH PUSH0 MSTORE 1 BLOBHASH 32 MSTORE 64 PUSH0 RETURN`,
  gas: `GAS ${returnTop}`,
  balances: `${PLAIN} BALANCE ADDRESS BALANCE CALLER BALANCE ADD ADD ${returnTop}`,
  extcode: `${ADDRESS_OF(1)} EXTCODESIZE ${PLAIN} EXTCODEHASH 32 PUSH0 PUSH0 ${ADDRESS_OF(2)} EXTCODECOPY ADD ${returnTop}`,
  callPlain: `${call("CALL", PLAIN)} ${returnTop}`,
  callPlainValue: `${call("CALL", PLAIN, "GAS", "1")} ${returnTop}`,
  callTooMuchValue: `${call("CALL", PLAIN, "GAS", "0xffffffffffffffffffffffffffff")} ${returnTop}`,
  callNewValue: `${call("CALL", "0x00000000000000000000000000000000deadbeef", "GAS", "1")} ${returnTop}`,
  callGasHuge: `${call("CALL", PLAIN, `0x${"ff".repeat(32)}`)} ${returnTop}`,
  callMemoryOut: `PUSH0 PUSH0 1 0xffffffffffffff PUSH0 ${PLAIN} GAS CALL`,
  callGasThousand: `${call("CALL", "{sstoreNew}", "1000")} ${returnTop}`,
  callRevertString: `${call("CALL", "{revertString}")} ${BUBBLE}`,
  callPanic: `${call("CALL", "{revertPanic11}")} ${BUBBLE}`,
  callInvalid: `${call("CALL", "{invalid}")} ${returnTop}`,
  callLoop: `${call("CALL", "{loop}", "30000")} ${returnTop}`,
  callLog: `${call("CALL", "{log4}")} ${call("CALL", "{logsThenRevert}")} ${call("CALL", "{log0}")} STOP`,
  callcodeSstore: `${call("CALLCODE", "{sstoreNew}")} ${BUBBLE}`,
  delegateSstore: `${call("DELEGATECALL", "{sstoreNew}")} ${BUBBLE}`,
  delegateRevert: `${call("DELEGATECALL", "{revertCustom}")} ${BUBBLE}`,
  staticSstore: `${call("STATICCALL", "{sstoreNew}")} ${returnTop}`,
  staticLog: `${call("STATICCALL", "{log0}")} ${returnTop}`,
  staticTstore: `${call("STATICCALL", "{tstore}")} ${returnTop}`,
  staticCreate: `${call("STATICCALL", "{createEmpty}")} ${returnTop}`,
  staticSelfDestruct: `${call("STATICCALL", "{selfDestruct}")} ${returnTop}`,
  staticValue: `${call("STATICCALL", "{callPlainValue}")} ${returnTop}`,
  staticRead: `${call("STATICCALL", "{sload}")} ${BUBBLE}`,
  deep: `${call("CALL", "{callRevertString}")} ${BUBBLE}`,
  deeper: `${call("DELEGATECALL", "{deep}")} ${BUBBLE}`,
  recursive: `${call("CALL", "ADDRESS")} ${returnTop}`,
  createEmpty: `PUSH0 PUSH0 PUSH0 CREATE ${returnTop}`,
  createStop: `${create("00")} ${returnTop}`,
  createReturn: `${create("600160006000f060016000f3")} ${returnTop}`,
  createValue: `${create("00", "1")} ${returnTop}`,
  createTooMuchValue: `${create("00", "0xffffffffffffffffffffffffffff")} ${returnTop}`,
  createRevert: `${create("60ff60005260206000fd")} RETURNDATASIZE PUSH0 PUSH0 RETURNDATACOPY RETURNDATASIZE PUSH0 RETURN`,
  createInvalid: `${create("fe")} ${returnTop}`,
  createEf: `${create("60ef60005360016000f3")} ${returnTop}`,
  createLarge: `${create("6160016000f3")} ${returnTop}`,
  createDeposit: `${create("6120006000f3")} ${returnTop}`,
  createSelfDestruct: `${create("33ff", "1")} ${returnTop}`,
  createInitTooLarge: "49153 PUSH0 PUSH0 CREATE",
  createThenCall: `${create("600a600d600039600a6000f3602a60005260206000f3")} ${call("CALL", "DUP6")} ${BUBBLE}`,
  create2Twice: `${create2("60016000f3")} POP ${create2("60016000f3")} ${returnTop}`,
  create2Salt: `${create2("00", `0x${"ab".repeat(32)}`)} ${returnTop}`,
  create2Empty: `1 PUSH0 PUSH0 PUSH0 CREATE2 ${returnTop}`,
  create2InitTooLarge: "1 49153 PUSH0 PUSH0 CREATE2",
  selfDestruct: `${PLAIN} SELFDESTRUCT`,
  selfDestructSelf: "ADDRESS SELFDESTRUCT",
  selfDestructNew: "0x00000000000000000000000000000000deadbe00 SELFDESTRUCT",
  callSelfDestruct: `${call("CALL", "{selfDestruct}", "GAS", "1")} ${call("CALL", "{selfDestruct}")} ${returnTop}`,
  push32Cut: "!7f01",
  clz: `1 CLZ ${returnTop}`,
  codeEndsInPush: "!60",
  precompileEcrecover: `${call("CALL", "1")} ${BUBBLE}`,
  precompileSha: `${call("STATICCALL", "2")} ${BUBBLE}`,
  precompileIdentityLowGas: `${call("CALL", "4", "2")} ${returnTop}`,
  precompileModexp: `${call("CALL", "5")} ${BUBBLE}`,
  precompileBnAdd: `1 PUSH0 MSTORE PUSH0 PUSH0 96 PUSH0 PUSH0 6 GAS CALL ${BUBBLE}`,
  precompilePairing: `PUSH0 PUSH0 100 PUSH0 PUSH0 8 GAS CALL ${BUBBLE}`,
  precompileBlake: `PUSH0 PUSH0 100 PUSH0 PUSH0 9 GAS CALL ${BUBBLE}`,
  precompilePoint: `PUSH0 PUSH0 192 PUSH0 PUSH0 10 GAS CALL ${BUBBLE}`,
  precompileG1: `PUSH0 PUSH0 256 PUSH0 PUSH0 11 GAS CALL ${BUBBLE}`,
  precompileG1Msm: `1 PUSH0 MSTORE PUSH0 PUSH0 160 PUSH0 PUSH0 12 GAS CALL ${BUBBLE}`,
  precompileG2Bad: `PUSH0 PUSH0 100 PUSH0 PUSH0 13 GAS CALL ${BUBBLE}`,
  precompileMap: `1 PUSH0 MSTORE PUSH0 PUSH0 64 PUSH0 PUSH0 16 GAS CALL ${BUBBLE}`,
  precompileP256: `PUSH0 PUSH0 160 PUSH0 PUSH0 0x0100 GAS CALL ${BUBBLE}`,
  precompileValue: `${call("CALL", "4", "GAS", "1")} ${returnTop}`,
  delegated: "!ef0100{sstoreNew}",
  callDelegated: `${call("CALL", "{delegated}")} ${BUBBLE}`,
  proxy: `!363d3d373d3d3d363d73{token}5af43d82803e903d91602b57fd5bf3`,
  callProxy: `0x70a08231 PUSH0 MSTORE ${call("CALL", "{proxy}")} ${BUBBLE}`,
};

const NAMES = Object.keys(SOURCES);

function addressOf(name: string): Address {
  if (name === "token") return TOKEN;
  const index = NAMES.indexOf(name);
  if (index < 0) throw new Error(`no program ${name}`);
  return ADDRESS_OF(16 + index);
}

const TOKEN = `0x${"70ce".padStart(40, "0")}` as Address;

function resolve(source: string): string {
  return source
    .replace(/!([0-9a-f]*)\{(\w+)\}/g, (_, before, name) => `!${before}${addressOf(name).slice(2)}`)
    .replace(/\{(\w+)\}/g, (_, name) => addressOf(name));
}

export const PROGRAMS: readonly Program[] = [
  ...NAMES.map((name): Program => {
    const entry = SOURCES[name]!;
    const { source, storage } = typeof entry === "string" ? { source: entry, storage: undefined } : entry;
    return {
      name,
      address: addressOf(name),
      code: asm(resolve(source)),
      ...(storage && { storage }),
    };
  }),
  { name: "token", address: TOKEN, code: contract("Token").runtime },
];
