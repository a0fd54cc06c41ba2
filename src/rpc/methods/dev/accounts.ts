import { type Address, addressToBytes, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes, leftPad } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { DevControlError } from "../../../dev/dev-settings.ts";
import { credited, EMPTY_ACCOUNT } from "../../../evm/state/account.ts";
import { address, boolean, data } from "../../transport/codec.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { bothNames, controlMethods, lenientNumber } from "./control-methods.ts";

/** Sets the balance of an account, in wei. */
export const setBalance = controlMethods({
  names: bothNames("setBalance", "evm_setAccountBalance", "tenderly_setBalance"),
  params: { address, balance: lenientNumber },
  handle: ({ address, balance }, { dev }) => dev.edit({ edits: [{ address, balance }] }),
});

/** Adds wei to the balance of an account; saturates at 2^256 − 1, as in anvil. */
export const addBalance = controlMethods({
  names: bothNames("addBalance", "tenderly_addBalance"),
  params: { address, amount: lenientNumber },
  async handle({ address, amount }, { dev, chain }) {
    const account = (await chain.account({ address, at: "latest" })) ?? EMPTY_ACCOUNT;
    await dev.edit({ edits: [{ address, balance: credited(account, amount).balance }] });
  },
});

/** Sets the nonce of an account; lowering it makes contract addresses collide. */
export const setNonce = controlMethods({
  names: bothNames("setNonce", "evm_setAccountNonce"),
  params: { address, nonce: lenientNumber },
  handle: ({ address, nonce }, { dev }) => dev.edit({ edits: [{ address, nonce }] }),
});

/** Sets the code of an account; its storage stays. */
export const setCode = controlMethods({
  names: bothNames("setCode", "evm_setAccountCode"),
  params: { address, code: data },
  handle: ({ address, code }, { dev }) => dev.edit({ edits: [{ address, code }] }),
});

/** Sets one storage slot of an account. */
export const setStorageAt = controlMethods({
  names: bothNames("setStorageAt", "evm_setAccountStorageAt"),
  params: { address, slot: lenientNumber, value: lenientNumber },
  result: boolean,
  /** True under every name, as in anvil. */
  async handle({ address, slot, value }, { dev }) {
    await dev.edit({ edits: [{ address, storage: new Map([[hashFromBigint(slot), value]]) }] });
    return true;
  },
});

/** A function of a token that reads one word, such as `balanceOf(address)`. */
type TokenRead = {
  readonly token: Address;
  readonly signature: string;
  readonly accounts: readonly Address[];
};

const WORD = 32;
const FUNDS = 1n << 128n;

/** The search for the storage slot of a token's balance or allowance. */
const TOKEN_READ_LIMITS = {
  /** Slots to try, one call each; a token behind a proxy reads about ten. */
  slotsMax: 64,
} as const;

/**
 * Makes a function of a token return `value` by writing the storage slot that it reads. The slot is found by trying: each slot
 * that the call touches is overridden for one call.
 *
 * @throws DevControlError if no single slot decides the result, as in tokens that compute balances
 */
async function writeTokenWord(
  { token, signature, accounts }: TokenRead,
  value: bigint,
  { execution, dev, sessions }: ServingPorts,
): Promise<void> {
  const selector = keccak256(Buffer.from(signature)).subarray(0, 4);
  const words = accounts.map((account) => leftPad(addressToBytes(account), WORD));
  const request = { to: token, data: concatBytes(selector, ...words) };
  // As of a transaction, which somebody pays for.
  const stateOverrides = new Map([[ZERO_ADDRESS, { balance: FUNDS }]]);
  const { accessList } = await execution.createAccessList({
    args: request,
    at: "latest",
    overrides: { stateOverrides },
  });
  const slots = accessList.flatMap(({ address, storageKeys }) => storageKeys.map((slot) => ({ address, slot })));
  const { slotsMax } = TOKEN_READ_LIMITS;
  if (slots.length > slotsMax) {
    throw new DevControlError(`${signature} of ${token} touches more than ${slotsMax} storage slots`, {
      token,
      signature,
    });
  }
  for (const { address, slot } of slots) {
    // A call that is answered at once would leave no turn to anybody else.
    await sessions.slices.json.next();
    if (!(await returnsWith(address, slot))) continue;
    await dev.edit({ edits: [{ address, storage: new Map([[slot, value]]) }] });
    return;
  }
  throw new DevControlError(`no storage slot of ${token} is what ${signature} returns`, {
    token,
    signature,
  });

  async function returnsWith(address: Address, slot: Hash): Promise<boolean> {
    const stateOverrides = new Map([[address, { stateDiff: new Map([[slot, value]]) }]]);
    try {
      const output = await execution.call({
        args: request,
        at: "latest",
        overrides: { stateOverrides },
      });
      return output.length === WORD && bytesToBigint(output) === value;
    } catch {
      // A slot that decides whether the token works at all, such as a proxy's implementation.
      return false;
    }
  }
}

/**
 * Sets the balance of an account in an ERC-20 token, in the token's smallest unit; its total supply stays.
 *
 * @throws DevControlError for a token that computes balances
 */
export const dealErc20 = controlMethods({
  names: [...bothNames("dealERC20"), "anvil_dealErc20"],
  params: { account: address, token: address, balance: lenientNumber },
  handle: ({ account, token, balance }, modules) =>
    writeTokenWord({ token, signature: "balanceOf(address)", accounts: [account] }, balance, modules),
});

/**
 * Sets the ERC-20 allowance of a spender.
 *
 * @throws DevControlError for a token that computes allowances
 */
export const setErc20Allowance = controlMethods({
  names: [...bothNames("setERC20Allowance"), "anvil_setErc20Allowance"],
  params: { owner: address, spender: address, token: address, amount: lenientNumber },
  handle: ({ owner, spender, token, amount }, modules) =>
    writeTokenWord({ token, signature: "allowance(address,address)", accounts: [owner, spender] }, amount, modules),
});

/** Lets `eth_sendTransaction` send from this account, or contract, without a key. */
export const impersonateAccount = controlMethods({
  names: bothNames("impersonateAccount"),
  params: { address },
  handle: ({ address }, { dev }) => dev.impersonate({ address, isOn: true }),
});

/** Undoes `hardhat_impersonateAccount`. */
export const stopImpersonatingAccount = controlMethods({
  names: bothNames("stopImpersonatingAccount"),
  params: { address },
  handle: ({ address }, { dev }) => dev.impersonate({ address, isOn: false }),
});

/** Sets whether every account can send without a key. */
export const autoImpersonateAccount = controlMethods({
  names: bothNames("autoImpersonateAccount"),
  params: { isOn: boolean },
  handle: ({ isOn }, { dev }) => dev.configure({ autoImpersonate: isOn }),
});
