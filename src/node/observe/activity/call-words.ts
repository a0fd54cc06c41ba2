import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import { hexToBytes, isData } from "../../../base/primitives/hex.ts";
import { abiText } from "../../../dev/artifacts/abi.ts";
import { callText, failureText } from "../../../dev/artifacts/call-tree.ts";
import type { Contract } from "../../../dev/artifacts/contracts.ts";
import type { ProjectNames } from "../project-names.ts";
import { amountText } from "./amounts.ts";
import type { CallWords } from "./call-text.ts";
import type { CallFailure, CallRecord, CallTarget } from "./call-window.ts";

/** The node's data that the words need. */
export type WordsModules = {
  readonly names: ProjectNames;
  /** Why an unknown method was not found. */
  readonly methodHint: (method: string) => string | undefined;
  readonly headNumber: () => number;
  /** Accounts that the node signs for. */
  readonly accounts: () => readonly Address[];
  /** Why a submitted transaction waits; undefined: nothing to say. */
  readonly waitingReason: (hash: string) => string | undefined;
};

/** Words for a call, with the names of a project and the numbers that geth's error texts omit. */
export function wordsOf(record: CallRecord, modules: WordsModules): CallWords {
  const { method, target, failed, count } = record;
  const contract = target && contractOf(target, modules);
  return {
    target: target === undefined ? "" : targetText(target, contract, count === 1, modules),
    result: resultText(record, contract, modules),
    reason: failed === undefined ? "" : reasonText(method, failed, record, contract, modules),
  };
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;

function contractOf({ to, data }: CallTarget, { names }: WordsModules): Contract | undefined {
  if (to === undefined) return names.contracts.withCreation(hexToBytes(data));
  return ADDRESS.test(to) ? names.contractAt(to.toLowerCase() as Address) : undefined;
}

/** `Token.balanceOf(owner: 0x…)`, without arguments for several calls. */
function targetText(
  { to, data }: CallTarget,
  contract: Contract | undefined,
  hasArguments: boolean,
  { names }: WordsModules,
): string {
  if (to === undefined) return data === "0x" ? "" : `new ${contract?.name ?? "contract"}`;
  if (!ADDRESS.test(to)) return "";
  const address = to.toLowerCase() as Address;
  const name = contract?.name ?? names.fixedName(address) ?? checksumAddress(address);
  if (data === "0x") return name;
  const item = names.contracts.item("function", data.slice(0, 10), contract);
  if (item === undefined) return `${name}.${data.slice(0, 10)}`;
  return `${name}.${hasArguments ? callText(item, data) : item.name}`;
}

function resultText(
  { method, result, target }: CallRecord,
  contract: Contract | undefined,
  modules: WordsModules,
): string {
  if (result === undefined) return "";
  const sends = method.startsWith("eth_send");
  const waiting = sends ? modules.waitingReason(result) : undefined;
  if (waiting !== undefined) return `${result} ${waiting}`;
  if (method !== "eth_call" || target === undefined || !isData(result)) return result;
  const item = modules.names.contracts.item("function", target.data.slice(0, 10), contract);
  const decoded = item && abiText(item.outputs ?? [], hexToBytes(result));
  return decoded || (result.length > 74 ? `${result.slice(0, 74)}…` : result);
}

function reasonText(
  method: string,
  failed: CallFailure,
  record: CallRecord,
  contract: Contract | undefined,
  modules: WordsModules,
): string {
  const { message, data } = failed;
  if (data !== undefined && !message.includes(": ")) {
    const decoded = failureText("", data, contract, modules.names.contracts);
    return `${message}: ${decoded || data}`;
  }
  if (failed.code === "RPC_METHOD_NOT_FOUND") {
    const hint = modules.methodHint(method);
    return hint === undefined ? "no such method" : `no such method, ${hint}`;
  }
  const more = (EXPLAINED[failed.code] ?? (() => undefined))(failed, {
    ...modules,
    block: record.block,
    head: record.head,
  });
  return more === undefined ? message : `${message} (${more})`;
}

type Explain = (failed: CallFailure, context: WordsModules & Pick<CallRecord, "block" | "head">) => string | undefined;

const fundsText: Explain = ({ facts }) => {
  const { from, balance, value, required } = facts;
  const needed = required ?? value;
  if (balance === undefined || needed === undefined) return undefined;
  const who = from === undefined ? "the sender" : from;
  return `${who} has ${amountText(BigInt(balance))}, needs ${required === undefined ? "more than " : ""}${amountText(BigInt(needed))}`;
};

const accountText: Explain = ({ facts }, { accounts }) => {
  const own = accounts();
  const signs = own[0] === undefined ? "no account" : `${own.length} accounts starting with ${checksumAddress(own[0])}`;
  return `${facts["address"] ?? "no from"}; the node signs for ${signs}, and anvil_impersonateAccount sends as any`;
};

/** Explanations that geth's texts omit; those texts stay, since callers may compare them. */
const EXPLAINED: Readonly<Record<string, Explain>> = {
  ACCOUNT_UNKNOWN: accountText,
  ACCOUNT_LOCKED: ({ facts }) => facts["address"],
  ESTIMATE_INSUFFICIENT_FUNDS: fundsText,
  TX_INSUFFICIENT_ACCOUNT_FUNDS: fundsText,
  TX_INSUFFICIENT_FUNDS_FOR_TRANSFER: fundsText,
  CALL_REFUSED: fundsText,
  RPC_UNKNOWN_BLOCK: (_failed, { block, head, headNumber }) =>
    `${block === undefined ? "" : `block ${blockText(block)}, `}the newest is ${head ?? headNumber()}`,
};

/** A block number in decimal, as the log shows blocks. */
function blockText(block: string): string {
  return block.startsWith("0x") ? String(BigInt(block)) : block;
}
