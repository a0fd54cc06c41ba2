import { RULES_AT } from "../../base/params/hardforks.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { BlockContext, ExecuteOptions, ExecutionResult, Message } from "./evm.ts";
import { precompilesAt } from "./precompiles/index.ts";
import type { State } from "./state-port.ts";

const BALANCE_END = 1n << 256n;

/**
 * Executes a message to an account without code, the most common kind of transaction: the interpreter would create records of both accounts
 * in linear memory and run nothing. Undefined for messages that need the interpreter: to code or a precompile, a failing transfer, a
 * watching caller, and the rules before EIP-161 and from EIP-7708.
 */
export function plainTransfer(
  { to, caller, value, gas }: Message,
  { hardfork }: BlockContext,
  state: State,
  { tracer, onAccess, precompiles = precompilesAt(hardfork) }: ExecuteOptions,
): ExecutionResult | undefined {
  if (to === null || tracer !== undefined || onAccess !== undefined || precompiles.has(to)) return undefined;
  if (!RULES_AT[hardfork].spuriousDragon || RULES_AT[hardfork].amsterdam) return undefined;
  // Changes are listed in the order in which accounts are read first.
  const sender = state.account(caller);
  const target = state.account(to);
  if (target !== undefined && target.codeHash !== EMPTY_CODE_HASH) return undefined;
  if (value > 0n) {
    if (sender === undefined || sender.balance < value) return undefined;
    const { nonce = 0n, balance = 0n } = target ?? {};
    if (to !== caller) {
      if (balance + value >= BALANCE_END) return undefined;
      state.setAccount(caller, { ...sender, balance: sender.balance - value });
      state.setAccount(to, { nonce, balance: balance + value, codeHash: EMPTY_CODE_HASH });
    } else {
      state.touch(to);
    }
  } else if (target !== undefined) {
    state.touch(to);
  }
  return {
    outcome: "success",
    halt: undefined,
    returnData: EMPTY_BYTES,
    gasLeft: gas,
    gasRefund: 0n,
    logs: [],
    selfDestructs: [],
  };
}
