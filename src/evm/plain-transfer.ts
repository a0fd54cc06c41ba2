import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { ExecuteOptions, ExecutionResult, Message, Precompile, State } from "./evm.ts";
import { EMPTY_CODE_HASH } from "./memory/code-cache.ts";

/**
 * A transfer to an account without code, which needs no interpreter: two balances change. undefined for every other message, for one
 * without value, whose target may stay absent (EIP-158), and where a tracer watches.
 */
export function executePlainTransfer(
  { to, caller, value, gas }: Message,
  state: State,
  precompiles: ReadonlyMap<Address, Precompile>,
  { tracer }: ExecuteOptions,
): ExecutionResult | undefined {
  if (to === null || value === 0n || tracer !== undefined || precompiles.has(to)) return undefined;
  const callee = state.account(to);
  if (callee !== undefined && callee.codeHash !== EMPTY_CODE_HASH) return undefined;
  const payer = state.account(caller);
  if (payer === undefined || payer.balance < value) return undefined;
  state.setAccount(caller, { ...payer, balance: payer.balance - value });
  // Read after the payment: the two may be one account.
  const { nonce, balance, codeHash } = state.account(to) ?? ABSENT;
  state.setAccount(to, { nonce, balance: BigInt.asUintN(256, balance + value), codeHash });
  return {
    outcome: "success",
    returnData: EMPTY_BYTES,
    gasLeft: gas,
    gasRefund: 0n,
    logs: [],
    selfDestructs: [],
  };
}

const ABSENT = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH };
