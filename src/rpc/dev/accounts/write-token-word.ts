import { DevControlError } from "../../../dev/dev-settings.ts";
import { type Address, addressToBytes, ZERO_ADDRESS } from "../../../primitives/address.ts";
import { bytesToBigint, concatBytes, leftPad } from "../../../primitives/bytes.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { keccak256 } from "../../../primitives/keccak.ts";
import type { ExecutionPort } from "../../ports/execution.ts";
import type { DevModules } from "../control-methods.ts";

export type TokenModules = DevModules & {
  readonly execution: Pick<ExecutionPort, "call" | "createAccessList">;
};

/** A function of a token that reads one word, such as `balanceOf(address)`. */
export type TokenRead = {
  readonly token: Address;
  readonly signature: string;
  readonly accounts: readonly Address[];
};

const WORD = 32;
const FUNDS = 1n << 128n;

/**
 * Makes a function of a token return `value`: writes the storage slot that it reads. Which one that is, is found by trying: each slot
 * that the call touches is overridden for one call.
 *
 * @throws DevControlError when no slot alone decides the result, as in tokens that compute balances
 */
export async function writeTokenWord(
  { token, signature, accounts }: TokenRead,
  value: bigint,
  { execution, dev }: TokenModules,
): Promise<void> {
  const selector = keccak256(Buffer.from(signature)).subarray(0, 4);
  const words = accounts.map((account) => leftPad(addressToBytes(account), WORD));
  const request = { to: token, data: concatBytes(selector, ...words) };
  // As of a transaction, which somebody pays for.
  const stateOverrides = new Map([[ZERO_ADDRESS, { balance: FUNDS }]]);
  const { accessList } = await execution.createAccessList(request, "latest", { stateOverrides });
  const slots = accessList.flatMap(({ address, storageKeys }) =>
    storageKeys.map((slot) => ({ address, slot })),
  );
  for (const { address, slot } of slots) {
    if (!(await returnsWith(address, slot))) continue;
    await dev.edit([{ address, storage: new Map([[slot, value]]) }]);
    return;
  }
  throw new DevControlError(`no storage slot of ${token} is what ${signature} returns`, {
    token,
    signature,
  });

  async function returnsWith(address: Address, slot: Hash): Promise<boolean> {
    const stateOverrides = new Map([[address, { stateDiff: new Map([[slot, value]]) }]]);
    try {
      const output = await execution.call(request, "latest", { stateOverrides });
      return output.length === WORD && bytesToBigint(output) === value;
    } catch {
      // A slot that decides whether the token works at all, such as a proxy's implementation.
      return false;
    }
  }
}
