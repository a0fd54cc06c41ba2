import { type Address, addressToBytes, parseAddress } from "../../primitives/address.ts";
import { bigintToFixedBytes, concatBytes, leftPad } from "../../primitives/bytes.ts";
import { bytesToHex, type Hex } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";
import {
  ENTRY_POINT_V06_CODE,
  MULTICALL3_CODE,
  PERMIT2_MAINNET_CODE,
  SENDER_CREATOR_CODE,
} from "./predeploy-code.ts";
import { CREATE2_DEPLOYER } from "./system-contracts.ts";

/** A contract that has one address on nearly every public chain, so that tools and contracts expect it there. */
export type Predeploy = {
  /** As `--predeploys` takes it. */
  readonly name: string;
  readonly accounts: readonly {
    readonly address: Address;
    /** Runtime code; some holds the chain id. */
    readonly code: (chainId: bigint) => Hex;
  }[];
};

const PERMIT2_ADDRESS = parseAddress("0x000000000022d473030f116ddee9f6b43ac78ba3");

export const PREDEPLOYS: readonly Predeploy[] = [
  predeploy("multicall3", "0xca11bde05977b3631167028862be2a173976ca11", () => MULTICALL3_CODE),
  predeploy("permit2", PERMIT2_ADDRESS, permit2Code),
  // The same code as the CREATE2 deployer, at the address Safe deploys through.
  predeploy(
    "safe-singleton-factory",
    "0x914d7fec6aac8cd542e72bca78b30650d45643d7",
    () => CREATE2_DEPLOYER.code,
  ),
  // ERC-4337
  {
    name: "entrypoint-v0.6",
    accounts: [
      ...predeploy("", "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789", () => ENTRY_POINT_V06_CODE)
        .accounts,
      ...predeploy("", "0x7fc98430eaedbb6070b35b39d798725049088348", () => SENDER_CREATOR_CODE)
        .accounts,
    ],
  },
];

/** Where the constructor of Permit2 stored the chain id and the EIP-712 domain separator, 32 bytes each. */
const PERMIT2_CHAIN_ID_OFFSET = 6945;
const PERMIT2_DOMAIN_SEPARATOR_OFFSET = 6983;

/** The code a deployment of Permit2 on `chainId` has. */
function permit2Code(chainId: bigint): Hex {
  const code = Buffer.from(PERMIT2_MAINNET_CODE.slice(2), "hex");
  const chainIdWord = bigintToFixedBytes(chainId, 32);
  const domainSeparator = keccak256(
    concatBytes(
      keccak256(Buffer.from("EIP712Domain(string name,uint256 chainId,address verifyingContract)")),
      keccak256(Buffer.from("Permit2")),
      chainIdWord,
      leftPad(addressToBytes(PERMIT2_ADDRESS), 32),
    ),
  );
  code.set(chainIdWord, PERMIT2_CHAIN_ID_OFFSET);
  code.set(domainSeparator, PERMIT2_DOMAIN_SEPARATOR_OFFSET);
  return bytesToHex(code);
}

function predeploy(name: string, address: string, code: (chainId: bigint) => Hex): Predeploy {
  return { name, accounts: [{ address: parseAddress(address), code }] };
}
