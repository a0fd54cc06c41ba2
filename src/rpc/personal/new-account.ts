import { checksumAddress } from "../../primitives/address.ts";
import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";
import type { KeysPort } from "../ports/keys.ts";

/** `personal_newAccount`: makes a key, encrypted with the passphrase; its address with EIP-55 checksum, as geth has it. */
export const newAccount = defineMethod({
  name: "personal_newAccount",
  params: { passphrase: string },
  result: string,
  private: true,
  handle: async ({ passphrase }, { keys }: { keys: Pick<KeysPort, "create"> }) =>
    checksumAddress(await keys.create(passphrase)),
});
